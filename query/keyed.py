"""The table of a keyed view: an engine of its own says who is live and who is a member."""

from __future__ import annotations

import numpy as np

from query.objects import Record
from query.stamp import Stamp
from query.table import Table, directions_of
from query.waiting import Waiting
from skyline import Skyline
from skyline.live.changes import LEAVE, Changes
from skyline.view import Bools, Ints, View
from skyline.wire.decode import Decoded
from skyline.wire.resolve import resolve
from skyline.wire.updates import TICK, Upsert, group_of


class KeyedTable(Table):
    """The same engine as the maintainer's, so the same objects, members and numbers of changes after each update."""

    def __init__(self, view: View, keep: float) -> None:
        super().__init__(view, keep)
        self._engine = Skyline(directions_of(view))
        self._ids: Ints = np.full(1024, -1)
        """The id of the record in each of the engine's slots."""
        self._waiting = Waiting()

    def apply(self, batch: Decoded) -> None:
        at = np.maximum.accumulate(np.maximum(batch.records.timestamps, self._engine.clock))
        resolve(self.view, batch, at, self._lookup)
        for row in (*batch.ticks, *batch.rejected):
            batch.keys[row] = TICK
            batch.deleted[row] = True
        changes = self._engine.apply(
            batch.keys, batch.points, batch.deleted, batch.valid_until, at, valid_from=batch.valid_from,
            groups=batch.groups, touched=self._touched(batch),
        )  # fmt: skip
        self._follow(batch, changes)

    def _follow(self, batch: Decoded, changes: Changes) -> None:
        """Brings index and records to where the engine is, and publishes that."""
        freed = changes.freed
        slots, rows = _last_rows(changes.row_slots)
        kept = ~np.isin(slots, freed)
        slots, rows = slots[kept], rows[kept]
        self._reserve(int(max(slots.max(initial=-1), freed.max(initial=-1))) + 1)
        replaced, ended = _known(self._ids[slots]), _known(self._ids[freed])
        ids = batch.records.offsets[rows]
        self._ids[freed] = -1
        self._ids[slots] = ids
        records = self._records(batch, rows, [batch.keys[row] for row in rows.tolist()])
        self._move(replaced + ended, self._started(batch.valid_from[rows], slots, ids, records))
        removed = [record[0] for record in self.objects.records(ended)]
        stamp = Stamp(int(batch.records.offsets[-1]), self._engine.clock, self._stamp.seq + len(changes))
        with self.lock:
            self.objects.replace(replaced + ended, removed, ids.tolist(), records)
            self._change_members(
                (str(key), op != LEAVE) for key, op in zip(changes.keys, changes.ops.tolist(), strict=True)
            )
            self._publish(stamp, self._engine.objects)

    def _started(self, valid_from: Ints, slots: Ints, ids: Ints, records: list[Record]) -> list[tuple[int, Record]]:
        """Records that are live from now on: those of this batch, but for those that wait, and those that waited."""
        clock = self._engine.clock
        waited = self._waiting.due(clock, self._ids)
        started = list(zip(waited, self.objects.records(waited), strict=True))
        late = valid_from > clock
        self._waiting.add(valid_from[late].tolist(), slots[late].tolist(), ids[late].tolist())
        now = (~late).tolist()
        started += [entry for entry, here in zip(zip(ids.tolist(), records, strict=True), now, strict=True) if here]
        return started

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


def _known(ids: Ints) -> list[int]:
    known: list[int] = ids[ids >= 0].tolist()
    return known


def _last_rows(slots: Ints) -> tuple[Ints, Ints]:
    """Each slot once, with its last row; rows without a slot are left out."""
    unique, from_end = np.unique(slots[::-1], return_index=True)
    rows = len(slots) - 1 - from_end
    return unique[unique >= 0], rows[unique >= 0]
