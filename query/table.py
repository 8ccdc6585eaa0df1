"""What the query service holds of a view: an index over all objects, their records, the members, and the stamp.

One thread applies updates; any number of threads read. A reader takes `state`, which belongs together: the stamp, the
index frozen at that very update, and how many objects and members there are. Nothing that happens later touches it.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from query.objects import Objects, Record, points_of
from query.stamp import NO_CLOCK, Stamp
from skyline import SkylineIndex
from skyline.search import FrozenIndex
from skyline.view import Floats, Ints, View
from skyline.wire.decode import Decoded


@dataclass(frozen=True, slots=True)
class State:
    """What answers speak for."""

    stamp: Stamp
    index: FrozenIndex
    objects: int
    """Live ones."""
    waiting: int
    members: int
    version: int
    """Counts the batches that changed a member: the same version, the same members."""


class Table(ABC):
    """All objects of a view, at one place of the log."""

    def __init__(self, view: View, keep: float) -> None:
        self.view = view
        self.lock = threading.Lock()
        """Held while `objects`, `members` and `state` change together; never while anything is computed."""
        self.objects = Objects(keep)
        self.members: set[str] = set()
        self.labels: dict[str, int] = {}
        """Number of every group that was ever seen, by the JSON of its fields, in order of appearance."""
        self.state: State | None = None
        """None until `load`."""
        self._index: SkylineIndex | None = None
        self._live = 0
        self._version = 0
        self._stamp = Stamp(-1, NO_CLOCK, 0)

    @abstractmethod
    def apply(self, batch: Decoded) -> None:
        """Applies a batch of updates, as the maintainer does, and publishes the state after it."""

    def load(self) -> None:
        """Ends the start: indexes all that is live, at once, and publishes the first state. O(n d log n)."""
        clock = self._stamp.clock
        live = [(number, record) for number, record in self.objects.all() if record[4] <= clock]
        records = [record for _, record in live]
        self._index = SkylineIndex(
            self.points(records),
            directions_of(self.view),
            ids=np.array([number for number, _ in live], np.int64),
            labels=np.array([record[2] for record in records], np.int64) if self.view.group_by else None,
            background=True,
        )
        with self.lock:
            self._show()

    def maintain(self) -> bool:
        """Merges trees of the index where that is due; for a thread beside the one that applies."""
        return self._index is not None and self._index.maintain()

    def _records(self, batch: Decoded, rows: Ints, keys: Iterable[str]) -> list[Record]:
        """Records of these rows of a batch, under these keys."""
        points = batch.points[rows] + 0.0
        blob, width = points.tobytes(), 8 * points.shape[1]
        chosen = rows.tolist()
        for group in dict.fromkeys(batch.groups or ()):
            if group:  # ticks and rejects have none
                self.labels.setdefault(group, len(self.labels))
        groups = [0] * len(chosen) if batch.groups is None else [self.labels[batch.groups[row]] for row in chosen]
        extras = [b""] * len(chosen) if batch.extras is None else [batch.extras[row] for row in chosen]
        return list(
            zip(
                keys,
                [blob[start : start + width] for start in range(0, len(blob), width)],
                groups,
                extras,
                batch.valid_from[rows].tolist(),
                batch.valid_until[rows].tolist(),
                strict=True,
            )
        )

    def _move(self, gone: list[int], started: list[tuple[int, Record]]) -> None:
        """Brings the index up to date, once there is one."""
        if self._index is not None and gone:
            self._index.delete(gone)
        if self._index is not None and started:
            records = [record for _, record in started]
            labels = [record[2] for record in records] if self.view.group_by else None
            self._index.insert([number for number, _ in started], self.points(records), labels)

    def _change_members(self, entered: Iterable[tuple[str, bool]]) -> None:
        """Applies changes in order: (key, whether it is a member from now on). Hold the lock."""
        changed = False
        for key, member in entered:
            changed = True
            if member:
                self.members.add(key)
            else:
                self.members.discard(key)
        self._version += changed

    def _publish(self, stamp: Stamp, live: int) -> None:
        """Hold the lock."""
        self._stamp, self._live = stamp, live
        if self._index is not None:
            self._show()

    def _show(self) -> None:
        assert self._index is not None
        waiting = len(self.objects) - self._live
        self.state = State(self._stamp, self._index.freeze(), self._live, waiting, len(self.members), self._version)

    def points(self, records: list[Record]) -> Floats:
        """Points (m, d) of these records, in given units."""
        return points_of(records, len(self.view.dimensions))


def directions_of(view: View) -> dict[str, str]:
    return dict(zip(view.dimensions.names, view.dimensions.directions, strict=True))
