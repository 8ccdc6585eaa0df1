"""LookOut (Morse, Patel, Grosky 2006) for one group: an index over all its objects, and its skyline as a list.

docs/algorithms.md tells where this departs from the paper, and why.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skyline.live.blocktree import Index, Places
from skyline.live.blocktree_kernels import mini_skyline
from skyline.live.lookout_kernels import dominated_in, undominated
from skyline.live.objects import Objects
from skyline.view import Floats, Ints

MakeIndex = Callable[[Ints, Floats], Index]
"""Makes an index over (n,) slots at (n, d) places."""


class LookOutGroup:
    """The objects of one group."""

    def __init__(self, objects: Objects, places: Places, slots: Ints, make_index: MakeIndex) -> None:
        """Indexes the slots, whose points and places are in the tables, and asks isSkyline of each."""
        self._objects, self._places = objects, places
        self._index = make_index(slots, places.rows[slots])
        self._skyline = _Slots()
        for slot in self._undominated(slots):
            self._skyline.add(slot)

    def __len__(self) -> int:
        return len(self._index)

    def members(self) -> list[int]:
        """The skyline, in no order."""
        slots: list[int] = self._skyline.view().tolist()
        return slots

    def insert(self, slot: int) -> tuple[list[int], list[int]]:
        """Adds an object, whose point and place are in the tables; who entered and who left."""
        self._index.insert(slot, self._places.rows[slot])
        return self._admit([slot], slot)

    def remove(self, slot: int) -> tuple[list[int], list[int]]:
        """Removes an object, whose point and place are still in the tables; who entered and who left."""
        self._index.delete(slot, self._places.rows[slot])
        if slot not in self._skyline:
            return [], []
        self._skyline.discard(slot)
        point, place = self._objects.points[slot : slot + 1], self._places.rows[slot : slot + 1]
        entered, _ = self._admit(self._mini(point, place), slot)
        return entered, [slot]

    def move(self, slot: int, old: Floats, old_place: Floats) -> tuple[list[int], list[int]]:
        """Takes an object from its old point and place, each (1, d), to those in the tables; who entered and left.

        A removal and an insertion, except that every test is made after both, so that their net effect comes out.
        """
        self._index.delete(slot, old_place[0])
        self._index.insert(slot, self._places.rows[slot])
        if slot not in self._skyline:
            return self._admit([slot], slot)
        self._skyline.discard(slot)
        entered, left = self._admit(list({slot, *self._mini(old, old_place)}), slot)
        return entered, [slot, *left]

    def _admit(self, candidates: list[int], updated: int) -> tuple[list[int], list[int]]:
        """Adds the candidates that are skyline objects. Only the updated object can dominate older ones."""
        entered = self._undominated(np.array(candidates, np.int64))
        left: list[int] = []
        if updated in entered:
            left = dominated_in(self._skyline.view(), self._objects.points, updated).tolist()
        for slot in left:
            self._skyline.discard(slot)
        for slot in entered:
            self._skyline.add(slot)
        return entered, left

    def _undominated(self, slots: Ints) -> list[int]:
        tree = self._index.blocks()
        found: list[int] = undominated(tree, self._objects.points, self._places.rows, slots).tolist()
        return found

    def _mini(self, point: Floats, place: Floats) -> list[int]:
        tree = self._index.blocks()
        found: list[int] = mini_skyline(tree, self._objects.points, self._places.rows, point, place).tolist()
        return found

    def _check(self) -> None:
        """Asserts what the index promises. O(n log n)."""
        self._index._check()
        self._skyline._check()


class _Slots:
    """A set of slots that is also an array. All O(1)."""

    def __init__(self) -> None:
        self._slots = np.zeros(16, np.int64)
        self._rows: dict[int, int] = {}

    def __contains__(self, slot: int) -> bool:
        return slot in self._rows

    def view(self) -> Ints:
        """The slots as an array, valid until the next change."""
        return self._slots[: len(self._rows)]

    def add(self, slot: int) -> None:
        row = len(self._rows)
        if row == len(self._slots):
            self._slots = np.concatenate([self._slots, np.zeros_like(self._slots)])
        self._slots[row] = slot
        self._rows[slot] = row

    def discard(self, slot: int) -> None:
        row = self._rows.pop(slot)
        last = len(self._rows)
        if row != last:
            moved = int(self._slots[last])
            self._slots[row] = moved
            self._rows[moved] = row

    def _check(self) -> None:
        assert self._rows == {slot: row for row, slot in enumerate(self.view().tolist())}
