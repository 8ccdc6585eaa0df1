"""The default engine: a forest in which every object has one parent that dominates it, and the roots are the skyline.

Every live object is a root, or has one parent, in its group, that dominates it. No root dominates a root. Then the
roots are the skyline: a root is dominated by no root, hence, dominance being transitive, by nothing below one; every
other object is dominated by its parent. docs/algorithms.md has the proof, the cost, and how the papers relate.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skyline.errors import InvalidInput
from skyline.live import forest_kernels as kernels
from skyline.live.changes import Columns
from skyline.live.engine import Batch, Engine, State
from skyline.live.forest_check import check_forest
from skyline.live.keys import Keys
from skyline.live.lanes_kernels import LANES
from skyline.live.objects import ABSENT, DOMINATED, grown
from skyline.live.roots_kernels import STACK, USED, Trees
from skyline.view import Ints

_LINKS: Final = 6


class DominanceForest(Engine):
    """O(1 + children) dominance tests for most updates, children being one on average; see the module.

    Memory, in bytes per object beyond key and point, with room to grow by half: 32 for the node, 16 for the interval,
    16 for the heap of due events, 12 of scratch; per member about 2.5 times its point in the index over the roots.
    """

    LINKS = _LINKS

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self._trees = _empty_pool(dimensions)
        self._groups = np.zeros((1, 3), np.int32)
        self._due_times: Ints = np.zeros(0, np.int64)
        self._due_slots = np.zeros(0, np.int32)
        self._due_places = np.zeros(0, np.int32)
        self._due_size: Ints = np.zeros(1, np.int64)
        self._scratch = np.zeros((3, 0), np.int32)
        self._stack: Ints = np.zeros(STACK, np.int64)
        self._counters: Ints = np.zeros(3, np.int64)

    def apply(self, batch: Batch, keys: Keys) -> Columns:
        columns = [getattr(batch, name) for name in kernels.Rows._fields]
        rows = kernels.Rows(*columns)
        row, parts = 0, []
        while row <= len(batch.slots):
            row, needed, *part = kernels.apply(self._table(), self._trees, keys.order(), rows, batch.advance_to, row)
            parts.append(part)
            self.clock, self.size, self.live = self._counters.tolist()
            self._reserve_nodes(needed)
        log, points, gone, emptied = parts[0] if len(parts) == 1 else _joined(parts)
        return Columns(
            rows=log[kernels.ROW],
            ops=log[kernels.OP].astype(np.int8),
            slots=log[kernels.SLOT],
            reasons=log[kernels.REASON].astype(np.int8),
            by_slots=log[kernels.BY],
            at=log[kernels.AT],
            groups=log[kernels.IN_GROUP],
            points=points,
            sizes=log[kernels.MEMBERS],
            gone=gone,
            emptied=emptied,
        )

    def restore(self, keys: Keys, state: State) -> None:  # noqa: ARG002
        members, row = self.objects.members(), 0
        while row < len(members):
            row, needed = kernels.restore_roots(self._table(), self._trees, members, row)
            self._reserve_nodes(needed)
        odd = kernels.dominated_root(self._table(), self._trees, members)
        if odd < 0:
            others = np.flatnonzero(self.objects.status == DOMINATED)
            odd = kernels.restore_others(self._table(), self._trees, others)
        if odd >= 0:
            (key,) = keys.take([odd])
            raise InvalidInput(f"the state is damaged: object {key!r} is wrongly said to be, or not to be, a member")
        kernels.restore_due(self._table(), keys.order(), np.flatnonzero(self.objects.status != ABSENT))

    def _reserve_nodes(self, needed: int) -> None:
        """Makes room for so many nodes in the pool of trees, by half at least if there is none."""
        used = int(self._trees.used[USED])
        if used + needed > len(self._trees.info):
            room = used + used // 2 + needed
            *pool, counts = self._trees
            self._trees = Trees._make([*(grown(array, room) for array in pool), counts])

    def _table(self) -> kernels.Table:
        """All arrays, as large as the table of objects has become."""
        objects = self.objects
        capacity = len(objects.nodes)
        if capacity > len(self._due_times):
            self._due_times = grown(self._due_times, capacity)
            self._due_slots = grown(self._due_slots, capacity)
            self._due_places = grown(self._due_places, capacity)
            self._scratch = np.empty((3, capacity), np.int32)
        if len(objects.population) > len(self._groups):
            self._groups = grown(self._groups, len(objects.population))
        self._counters[:] = self.clock, self.size, self.live
        return kernels.Table(
            objects.nodes,
            objects.points,
            objects.interval,
            objects.population,
            self._groups,
            self._due_times,
            self._due_slots,
            self._due_places,
            self._due_size,
            self._counters,
            self._scratch,
            self._stack,
        )

    def _check(self, keys: Keys) -> None:
        super()._check(keys)
        check_forest(self._table(), self._trees, keys)


def _empty_pool(dimensions: int, capacity: int = 16) -> Trees:
    return Trees(
        lows=np.empty((capacity, dimensions, LANES)),
        highs=np.empty((capacity, dimensions, LANES)),
        entries=np.empty((capacity, LANES), np.int32),
        info=np.empty((capacity, 4), np.int32),
        weights=np.empty((capacity, dimensions)),
        used=np.array([0, -1], np.int64),
    )


def _joined(parts: list[list[Any]]) -> tuple[Any, Any, Any, Any]:
    """The columns of a batch that was applied in several parts."""
    log, points, gone, emptied = zip(*parts, strict=True)
    return np.concatenate(log, axis=1), np.concatenate(points), np.concatenate(gone), np.concatenate(emptied)
