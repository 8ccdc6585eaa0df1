"""Both cores for one call: kernels release the lock, so plain threads do.

A pool lives only as long as the call. Numba's own parallel loops are not used: their thread pools do not survive a
fork, which is how Spark starts its Python workers, and one of them ends the process when two threads call at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import numba

from skyline.view import positive

Task = TypeVar("Task")
Result = TypeVar("Result")


class Workers:
    """Runs tasks on up to `threads` threads (default: as many as numba would use); starts none until it must."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads: int = numba.config.NUMBA_NUM_THREADS if threads is None else positive("threads", threads)
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> list[Result]:
        """Results in the order of the tasks. One task, or one thread, runs here and now."""
        tasks = list(tasks)
        if self.threads == 1 or len(tasks) < 2:
            return [work(task) for task in tasks]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="skyline-batch")
        return list(self._pool.map(work, tasks))


def ranges(start: int, stop: int, size: int) -> list[slice]:
    """From `start` to `stop` in stretches of `size`, the last one shorter.

    >>> ranges(0, 5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(low, min(low + size, stop)) for low in range(start, stop, size)]
