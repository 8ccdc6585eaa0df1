"""Group and carried fields of every object, as the JSON that rides along with its changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skyline.live.changes import ENTER, LEAVE, Changes
from skyline.view import Bools, Ints


class Extras:
    """The fields by slot. Knows which of them were in force at each change of a batch."""

    def __init__(self, by_slot: list[bytes] | None = None) -> None:
        self._by_slot: list[bytes] = by_slot or []

    def of(self, slot: int) -> bytes:
        return self._by_slot[slot] if 0 <= slot < len(self._by_slot) else b""

    def dump(self) -> list[bytes]:
        return list(self._by_slot)

    def touched(self, keys: Sequence[str], slots: Ints, given: Sequence[bytes]) -> Bools:
        """Which rows bring other fields than their object has. Rows of one batch count in order."""
        earlier: dict[str, bytes] = {}
        touched = np.zeros(len(keys), dtype=np.bool_)
        for row, (key, slot, new) in enumerate(zip(keys, slots.tolist(), given, strict=True)):
            old = earlier.get(key)
            touched[row] = new != (old if old is not None else self.of(slot))
            earlier[key] = new
        return touched

    def at_changes(self, changes: Changes, given: Sequence[bytes]) -> list[bytes]:
        """The fields of the object of each change, at that change; afterwards those of all rows are in force.

        A row's own fields hold from its update on: its object leaves with the old ones, moves and enters with the
        new. An object that waited, and whose time comes with the very row that replaces it, enters with the old ones:
        then a second change of it follows in the same row.
        """
        row_slots = changes.row_slots.tolist()
        self._grow(max(row_slots, default=-1) + 1)
        slots, rows, ops = changes.slots.tolist(), changes.rows.tolist(), changes.ops.tolist()
        last = {(row, slot): i for i, (row, slot) in enumerate(zip(rows, slots, strict=True))}
        chosen: list[bytes] = []
        stored = 0
        for i, (row, slot, op) in enumerate(zip(rows, slots, ops, strict=True)):
            self._store(row_slots, given, stored, row)
            stored = max(stored, row)
            own = row_slots[row] == slot and op != LEAVE and not (op == ENTER and last[row, slot] != i)
            chosen.append(given[row] if own else self.of(slot))
        self._store(row_slots, given, stored, len(row_slots))
        for slot in changes.freed.tolist():
            if slot < len(self._by_slot):
                self._by_slot[slot] = b""
        return chosen

    def _store(self, row_slots: list[int], given: Sequence[bytes], start: int, stop: int) -> None:
        for row in range(start, stop):
            if row_slots[row] >= 0:
                self._by_slot[row_slots[row]] = given[row]

    def _grow(self, slots: int) -> None:
        self._by_slot += [b""] * (slots - len(self._by_slot))
