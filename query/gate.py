"""The only way to compute: few threads, a bounded queue, and a deadline for every request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from query.problems import too_busy, too_slow

Result = TypeVar("Result")

PAGES_AT_ONCE: Final = 256
"""Pages of an index that a search reads between two looks at the deadline: up to a millisecond each."""

COUNTED_AT_ONCE: Final = 64
"""Objects whose dominated ones are counted between two looks: up to some milliseconds each."""


class Deadline:
    """When a request must be done. Computations ask `check` between steps of a few milliseconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self._end - time.monotonic()

    def check(self) -> None:
        if self.left <= 0:
            raise too_slow(self.seconds)


class Gate:
    """Runs computations of requests. What comes when all threads are busy and the queue is full is turned away."""

    def __init__(self, workers: int, queue: int, time_limit: float) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="search")
        self._most = workers + queue
        self._inside = 0
        self._time_limit = time_limit

    def deadline(self) -> Deadline:
        return Deadline(self._time_limit)

    async def run(self, deadline: Deadline, compute: Callable[[], Result]) -> Result:
        """Runs `compute` in a thread. One that is still queued when its time is up never starts."""
        if self._inside >= self._most:
            raise too_busy(f"{self._inside} requests are being answered or wait already; try again in a second")
        self._inside += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(_checked, deadline, compute)
        future.add_done_callback(lambda _: self._leave(loop))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), max(0.0, deadline.left) + 0.5)
        except TimeoutError:
            raise too_slow(deadline.seconds) from None

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._left)

    def _left(self) -> None:
        self._inside -= 1


def _checked(deadline: Deadline, compute: Callable[[], Result]) -> Result:
    deadline.check()
    return compute()
