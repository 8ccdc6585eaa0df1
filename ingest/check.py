"""Refuses what the maintainer would reject, before it is sent, with the same reasons and words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.batch import Batch
from ingest.parts import BAD_TIME
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from skyline.wire.rejects import Rejected

MAX_AHEAD_MS: Final = 3_600_000
"""A broker refuses timestamps further ahead than this by default (message.timestamp.after.max.ms)."""


@dataclass(frozen=True, slots=True)
class Refused:
    """One update that was not sent. `place` is where it stands in its source."""

    place: int
    key: bytes | None
    value: bytes | None
    why: Rejected


def wall_clock() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Checker:
    """Checks the updates of one view. About 1 µs for a plain update, 6 µs for any other."""

    def __init__(self, view: View, max_ahead: int = MAX_AHEAD_MS, now: Callable[[], int] = wall_clock) -> None:
        """`max_ahead`: milliseconds that a timestamp may lie ahead of `now`."""
        self._decoder = UpdateDecoder(view)
        self._max_ahead, self._now = max_ahead, now

    def warm_up(self) -> None:
        """Loads what the first check needs, which takes a second: for services, before they take requests."""
        self.split(Batch([b"a"], [b"{}"], [1]))

    def split(self, batch: Batch) -> tuple[Batch, list[Refused]]:
        """(what can be sent, what cannot), each in order."""
        problems = self._problems(batch)
        if not problems:
            return batch, []
        refused = [self._refused(batch, row, problems[row]) for row in sorted(problems)]
        return batch.only([row for row in range(len(batch)) if row not in problems]), refused

    def _problems(self, batch: Batch) -> dict[int, Rejected]:
        timestamps = np.array(batch.timestamps, dtype=np.int64)
        rows = zip(batch.keys, batch.values, batch.timestamps, range(len(batch)), strict=True)
        problems = self._decoder.rejects(Records.of(list(rows)))
        latest = self._now() + self._max_ahead
        for row in np.flatnonzero((timestamps <= 0) | (timestamps > latest)).tolist():
            problems.setdefault(row, self._bad_time(batch.timestamps[row]))
        problems.update(batch.problems)
        return problems

    def _bad_time(self, timestamp: int) -> Rejected:
        if timestamp <= 0:
            return Rejected(BAD_TIME, f"event time {timestamp} is not after 1970, where Kafka's time begins")
        return Rejected(
            BAD_TIME,
            f"event time {timestamp} lies {(timestamp - self._now()) / 1000:.0f} s ahead of the clock, at most "
            f"{self._max_ahead / 1000:.0f} are allowed: the view's clock would jump there and never come back",
        )

    @staticmethod
    def _refused(batch: Batch, row: int, why: Rejected) -> Refused:
        place = batch.places[row] if batch.places else row
        return Refused(place, batch.keys[row], batch.values[row], why)
