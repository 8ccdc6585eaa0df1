"""Decides who may come in: bounds what is held in memory and what is under way to the broker.

Only the event loop touches it, so it needs no lock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from itertools import count
from typing import Final

from ingest.http.problems import Problem

_LONGEST_WAIT: Final = 30
"""Seconds: nobody is sent away for longer, so that a broker that is back is soon made use of."""


class Gate:
    """Raises the 429 problem for whoever must wait. O(1)."""

    def __init__(
        self, max_updates: int, max_bytes: int, max_lag: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_updates, self._max_bytes, self._max_lag, self._now = max_updates, max_bytes, max_lag, now
        self._tickets = count()
        self._since: dict[int, float] = {}  # in order of entry, so that the first is the oldest
        self.updates = 0
        """Updates under way to the broker."""
        self.bytes = 0
        """Bytes of request bodies held."""

    def lag(self) -> float:
        """Seconds that the oldest request under way has been waiting for the broker."""
        return self._now() - next(iter(self._since.values()), self._now())

    def lagging(self) -> bool:
        return self.lag() > self._max_lag

    @contextmanager
    def body(self, size: int) -> Iterator[Callable[[int], None]]:
        """Room for a body of `size` bytes, before it is read. What is yielded hears how many there really were."""
        if self.lagging():
            raise self._busy(f"the broker has not acknowledged anything for {self.lag():.1f} s", self.lag())
        if self.bytes + size > self._max_bytes:
            raise self._busy(f"{self.bytes} bytes of other requests are held, at most {self._max_bytes} may be")
        held = size
        self.bytes += held

        def settle(read: int) -> None:
            nonlocal held
            self.bytes += read - held
            held = read

        try:
            yield settle
        finally:
            self.bytes -= held

    @contextmanager
    def under_way(self, updates: int) -> Iterator[None]:
        """Room for so many updates, until they are acknowledged."""
        if self.updates + updates > self._max_updates:
            raise self._busy(f"{self.updates} updates are under way to the broker, at most {self._max_updates} may be")
        ticket = next(self._tickets)
        self.updates += updates
        self._since[ticket] = self._now()
        try:
            yield
        finally:
            self.updates -= updates
            del self._since[ticket]

    @staticmethod
    def _busy(detail: str, waited: float = 0.0) -> Problem:
        # who comes back after as long as the broker has lagged comes back ever less often while it is away
        wait = min(max(1, math.ceil(waited)), _LONGEST_WAIT)
        return Problem(HTTPStatus.TOO_MANY_REQUESTS, "busy", detail, {"Retry-After": str(wait)})
