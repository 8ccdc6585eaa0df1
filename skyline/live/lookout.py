"""The engine `lookout`: the 2006 paper, on libspatialindex's R*-tree or on a quadtree."""

from __future__ import annotations

import heapq
from typing import Final

import numpy as np

from skyline.errors import InvalidInput
from skyline.live.blocktree import Index, Places
from skyline.live.events import Effect, EventEngine
from skyline.live.keys import Keys
from skyline.live.lookout_group import LookOutGroup
from skyline.live.objects import MEMBER
from skyline.live.quadtree import Quadtree
from skyline.live.rtree_index import CAPACITY, FILL, RStarTree, check_options
from skyline.view import NEVER, Floats, Ints

INDEXES: Final = ("quadtree", "rtree")


class LookOut(EventEngine):
    """Asks isSkyline of what arrives, and lets MINI find what takes the place of what leaves.

    Two heaps order expiries: that of all objects, which drives removals, is `EventEngine`'s; that of the skyline is
    here and tells when the skyline will lose a member by itself.

    index       "quadtree", in numba, or "rtree", libspatialindex's R*-tree
    capacity    entries per node of the R*-tree
    fill        least share of them in use
    """

    def __init__(self, dimensions: int, index: str = "quadtree", capacity: int = CAPACITY, fill: float = FILL) -> None:
        super().__init__(dimensions)
        if index not in INDEXES:
            raise InvalidInput(f"index must be one of {', '.join(INDEXES)}, got {index!r}")
        check_options(capacity, fill)
        self._kind, self._capacity, self._fill = index, capacity, fill
        self._places = Places(dimensions)
        self._groups: dict[int, LookOutGroup] = {}
        self._skyline_heap: list[tuple[int, int]] = []  # (valid_until, slot), stale ones included

    def insert(self, group: int, slot: int) -> Effect:
        self._place(slot)
        if group not in self._groups:
            self.build(group, np.zeros(0, np.int64))
        return self._watch(slot, self._groups[group].insert(slot))

    def remove(self, group: int, slot: int) -> Effect:
        effect = self._watch(slot, self._groups[group].remove(slot))
        if not len(self._groups[group]):
            del self._groups[group]
        return effect

    def move(self, group: int, slot: int, old: Floats) -> Effect:
        old_place = self._places.rows[slot : slot + 1].copy()
        self._place(slot)
        return self._watch(slot, self._groups[group].move(slot, old[None], old_place))

    def build(self, group: int, slots: Ints) -> None:
        self._places.put(self.objects.points, slots)
        self._groups[group] = LookOutGroup(self.objects, self._places, slots, self._make_index)

    def next_loss(self) -> int:
        """When the first of the members will expire, if nothing else happens; `NEVER` if none will. O(1) amortised."""
        heap = self._skyline_heap
        while heap and not self._counts(heap[0]):
            heapq.heappop(heap)
        return heap[0][0] if heap else NEVER

    def _schedule(self, slot: int, keys: Keys) -> None:
        super()._schedule(slot, keys)
        if self.objects.status[slot] == MEMBER:
            self._push(slot)

    def _watch(self, slot: int, effect: tuple[list[int], list[int]]) -> Effect:
        """Enters promoted objects into the heap of the skyline; the updated one follows when its interval is known."""
        entered, left = effect
        for other in entered:
            if other != slot:
                self._push(other)
        return Effect(entered, left)

    def _push(self, slot: int) -> None:
        until = int(self.objects.valid_until[slot])
        if until != NEVER:
            if len(self._skyline_heap) > 2 * self.size + 64:
                self._skyline_heap = sorted({entry for entry in self._skyline_heap if self._counts(entry)})
            heapq.heappush(self._skyline_heap, (until, slot))

    def _counts(self, entry: tuple[int, int]) -> bool:
        until, slot = entry
        return bool(self.objects.status[slot] == MEMBER) and int(self.objects.valid_until[slot]) == until

    def _place(self, slot: int) -> None:
        self._places.put(self.objects.points, np.array([slot], np.int64))

    def _make_index(self, slots: Ints, places: Floats) -> Index:
        if self._kind == "rtree":
            return RStarTree(places.shape[1], slots, places, capacity=self._capacity, fill=self._fill)
        tree = Quadtree(places.shape[1])
        for slot, place in zip(slots.tolist(), places, strict=True):
            tree.insert(slot, place)
        return tree

    def _check(self, keys: Keys) -> None:
        super()._check(keys)
        table = self.objects
        live, members = table.live(), table.members()
        assert set(self._groups) == set(table.group[live].tolist())
        for group, structure in self._groups.items():
            structure._check()
            assert len(structure) == (table.group[live] == group).sum()
            assert sorted(structure.members()) == members[table.group[members] == group].tolist()
        expected = {(int(table.valid_until[slot]), slot) for slot in members.tolist()}
        watched = {entry for entry in self._skyline_heap if self._counts(entry)}
        assert watched == {entry for entry in expected if entry[0] != NEVER}
