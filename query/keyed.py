"""A keyed view as the query service holds it: the engine, an index over all objects, and their records.

One thread applies updates; any number of threads read. A reader takes `state`, which belongs together: the stamp, the
index frozen at that very update, and how many objects and members there are. Nothing that happens later touches it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from query.objects import Objects, Record, points_of
from query.stamp import Stamp
from query.waiting import Waiting
from skyline import Skyline, SkylineIndex
from skyline.live.changes import LEAVE, Changes
from skyline.search import FrozenIndex
from skyline.view import Bools, Ints, View
from skyline.wire.decode import Decoded
from skyline.wire.resolve import resolve
from skyline.wire.updates import TICK, Upsert, group_of


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


class KeyedTable:
    """All objects of a view, at one place of the log."""

    def __init__(self, view: View, keep: float) -> None:
        self.view = view
        self.lock = threading.Lock()
        """Held while `objects`, `members` and `state` change together; never while anything is computed."""
        self.objects = Objects(keep)
        self.members: set[str] = set()
        self.labels: dict[str, int] = {}
        """Number of every group that was ever seen, by the JSON of its fields."""
        self.state: State | None = None
        """None until `load`."""
        self._live = Skyline(_directions(view))
        self._index: SkylineIndex | None = None
        self._ids: Ints = np.full(1024, -1)
        self._waiting = Waiting()
        self._offset = -1
        self._seq = 0
        self._version = 0

    @property
    def clock(self) -> int:
        return self._live.clock

    def load(self) -> None:
        """Ends the start: indexes all that is live, at once, and publishes the first state. O(n d log n)."""
        live = [(number, record) for number, record in self.objects.all() if record[4] <= self.clock]
        records = [record for _, record in live]
        self._index = SkylineIndex(
            points_of(records, len(self.view.dimensions)),
            _directions(self.view),
            ids=np.array([number for number, _ in live], np.int64),
            labels=np.array([record[2] for record in records], np.int64) if self.view.group_by else None,
            background=True,
        )
        with self.lock:
            self._publish()

    def apply(self, batch: Decoded) -> None:
        """Applies a batch of updates, as the maintainer does: the same objects, members and numbers of changes."""
        at = np.maximum.accumulate(np.maximum(batch.records.timestamps, self.clock))
        resolve(self.view, batch, at, self._lookup)
        for row in (*batch.ticks, *batch.rejected):
            batch.keys[row] = TICK
            batch.deleted[row] = True
        changes = self._live.apply(
            batch.keys, batch.points, batch.deleted, batch.valid_until, at, valid_from=batch.valid_from,
            groups=batch.groups, touched=self._touched(batch),
        )  # fmt: skip
        self._follow(batch, changes)

    def maintain(self) -> bool:
        """Merges trees of the index where that is due; for a thread beside the one that applies."""
        return self._index is not None and self._index.maintain()

    def label(self, group: str) -> int:
        return self.labels.setdefault(group, len(self.labels))

    def _follow(self, batch: Decoded, changes: Changes) -> None:
        """Brings index and records to where the engine is, and publishes that."""
        slots, rows = _last_rows(changes.row_slots)
        kept = ~np.isin(slots, changes.freed)
        slots, rows = slots[kept], rows[kept]
        self._reserve(int(max(slots.max(initial=-1), changes.freed.max(initial=-1))) + 1)
        replaced, ended = self._ids[slots], self._ids[changes.freed]
        replaced, ended = replaced[replaced >= 0].tolist(), ended[ended >= 0].tolist()
        ids = batch.records.offsets[rows]
        self._ids[changes.freed] = -1
        self._ids[slots] = ids
        records = self._records(batch, rows)
        started = self._started(batch.valid_from[rows], slots, ids, records)
        if self._index is not None:
            self._move(self._index, replaced + ended, started)
        removed = [record[0] for record in self.objects.records(ended)]
        with self.lock:
            self.objects.replace(replaced + ended, removed, ids.tolist(), records)
            self._follow_members(changes)
            self._offset = int(batch.records.offsets[-1])
            self._seq += len(changes)
            self._publish()

    def _records(self, batch: Decoded, rows: Ints) -> list[Record]:
        points = batch.points[rows] + 0.0
        blob, width = points.tobytes(), 8 * points.shape[1]
        chosen = rows.tolist()
        groups = [0] * len(chosen) if batch.groups is None else [self.label(batch.groups[row]) for row in chosen]
        extras = [b""] * len(chosen) if batch.extras is None else [batch.extras[row] for row in chosen]
        return list(
            zip(
                [batch.keys[row] for row in chosen],
                [blob[start : start + width] for start in range(0, len(blob), width)],
                groups,
                extras,
                batch.valid_from[rows].tolist(),
                batch.valid_until[rows].tolist(),
                strict=True,
            )
        )

    def _started(
        self, valid_from: Ints, slots: Ints, ids: Ints, records: list[Record]
    ) -> list[tuple[int, Record]]:
        """Records that are live from now on: those of this batch, but for those that wait, and those that waited."""
        waited = self._waiting.due(self.clock, self._ids)
        late = valid_from > self.clock
        self._waiting.add(valid_from[late].tolist(), slots[late].tolist(), ids[late].tolist())
        started = list(zip(waited, self.objects.records(waited), strict=True))
        now = ~late
        started += [
            (number, record) for number, record, here in zip(ids.tolist(), records, now.tolist(), strict=True) if here
        ]
        return started

    def _move(self, index: SkylineIndex, gone: list[int], started: list[tuple[int, Record]]) -> None:
        if gone:
            index.delete(gone)
        if started:
            records = [record for _, record in started]
            index.insert(
                [number for number, _ in started],
                points_of(records, len(self.view.dimensions)),
                [record[2] for record in records] if self.view.group_by else None,
            )

    def _follow_members(self, changes: Changes) -> None:
        for key, op in zip(changes.keys, changes.ops.tolist(), strict=True):
            if op == LEAVE:
                self.members.discard(str(key))
            else:
                self.members.add(str(key))
        self._version += len(changes) > 0

    def _publish(self) -> None:
        if self._index is not None:
            stamp = Stamp(self._offset, self.clock, self._seq)
            self.state = State(
                stamp, self._index.freeze(), self._live.objects, self._live.waiting, len(self.members), self._version
            )

    def _lookup(self, key: str) -> Upsert | None:
        record = self.objects.get(key)
        if record is None:
            return None
        _, point, _, extras, valid_from, valid_until = record
        return Upsert(tuple(np.frombuffer(point)), valid_from, valid_until, group_of(self.view, extras), extras)

    def _touched(self, batch: Decoded) -> Bools | None:
        """Which rows bring other carried fields than their object has: a member that keeps its point then moves."""
        if batch.extras is None:
            return None
        current: dict[str, bytes] = {}
        touched = np.zeros(len(batch.keys), np.bool_)
        for row, (key, extras) in enumerate(zip(batch.keys, batch.extras, strict=True)):
            known = current.get(key)
            if known is None:
                record = self.objects.get(key)
                known = b"" if record is None else record[3]
            touched[row] = known != extras
            current[key] = extras
        return touched

    def _reserve(self, slots: int) -> None:
        if slots > len(self._ids):
            self._ids = np.concatenate([self._ids, np.full(slots + slots // 2 - len(self._ids), -1)])


def _directions(view: View) -> dict[str, str]:
    return dict(zip(view.dimensions.names, view.dimensions.directions, strict=True))


def _last_rows(slots: Ints) -> tuple[Ints, Ints]:
    """Each slot once, with its last row; rows without a slot are left out."""
    unique, from_end = np.unique(slots[::-1], return_index=True)
    rows = len(slots) - 1 - from_end
    return unique[unique >= 0], rows[unique >= 0]
