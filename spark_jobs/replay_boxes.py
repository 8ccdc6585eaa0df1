"""Snapshots by the 2014 paper's method: one `SnapshotSkyline` per group, of all objects that the slice knows.

That method has a fixed set of objects. One that is absent has the worst of all points, which dominates nobody and is
left out of the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

from skyline.batch import SnapshotSkyline
from skyline.view import NEVER, Dimensions
from spark_jobs.replay_rows import Members, Rows

Place = tuple[str, int]
"""An object's label, and its row among the objects of that label."""

Record = tuple[Place, tuple[float, ...], int, int]


class Boxes:
    """Only what an object is at the snapshot counts: the last of its records, if its interval holds then."""

    def __init__(self, directions: Sequence[str], rows: Rows) -> None:
        """rows: all of the slice, for the objects that there will be."""
        self._directions = list(directions)
        self._worst = tuple((np.inf * Dimensions.unnamed(directions, len(directions)).signs).tolist())
        self._places: dict[tuple[str, str], int] = {}
        self._keys: dict[str, list[str]] = defaultdict(list)
        for label, key, deleted in zip(rows.labels, rows.keys, rows.deleted.tolist(), strict=True):
            if not deleted and (label, key) not in self._places:
                self._places[label, key] = len(self._keys[label])
                self._keys[label].append(key)
        self._records: dict[str, Record] = {}
        self._shown: dict[str, tuple[Place, tuple[float, ...]]] = {}
        self._due: list[tuple[int, str]] = []
        self._groups: dict[str, SnapshotSkyline] = {}

    def advance(self, rows: Rows, at: int) -> Members:
        """The members as of `at`. O(records + objects that start or expire), and what SnapshotSkyline takes."""
        touched = self._take(rows, at)
        while self._due and self._due[0][0] <= at:
            touched.add(heappop(self._due)[1])
        moved: dict[str, dict[int, tuple[float, ...]]] = defaultdict(dict)
        for key in touched:
            self._show(key, at, moved)
        for label, points in moved.items():
            self._apply(label, points)
        return self._members()

    def _take(self, rows: Rows, at: int) -> set[str]:
        columns = (rows.keys, rows.labels, rows.points.tolist(), rows.deleted.tolist(), rows.valid_from.tolist(),
                   rows.valid_until.tolist())  # fmt: skip
        for key, label, point, deleted, start, end in zip(*columns, strict=True):
            if deleted:
                self._records.pop(key, None)
                continue
            self._records[key] = ((label, self._places[label, key]), tuple(point), start, end)
            for moment in (start, end):
                if at < moment < NEVER:
                    heappush(self._due, (moment, key))
        return set(rows.keys)

    def _show(self, key: str, at: int, moved: dict[str, dict[int, tuple[float, ...]]]) -> None:
        """Notes what is new about an object: its old place is left, its new one taken."""
        record = self._records.get(key)
        now = (record[0], record[1]) if record is not None and record[2] <= at < record[3] else None
        before = self._shown.get(key)
        if now == before:
            return
        if before is not None:
            (label, row), _ = before
            moved[label][row] = self._worst
            del self._shown[key]
        if now is not None:
            (label, row), point = now
            moved[label][row] = point
            self._shown[key] = now

    def _apply(self, label: str, points: dict[int, tuple[float, ...]]) -> None:
        rows, values = np.array(list(points)), np.array(list(points.values()))
        if label in self._groups:
            self._groups[label].apply(rows, values)
            return
        every = np.tile(self._worst, (len(self._keys[label]), 1))
        every[rows] = values
        self._groups[label] = SnapshotSkyline(every, self._directions)

    def _members(self) -> Members:
        members: Members = {}
        for label, group in self._groups.items():
            keys = self._keys[label]
            for row in group.members().tolist():
                shown = self._shown.get(keys[row])
                if shown is not None and shown[0] == (label, row):
                    members[keys[row]] = (label, shown[1])
        return members
