"""A bucket quadtree over places, LookOut's faster index: the tree in flat arrays, its updates in numba."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from skyline.live import quadtree_kernels as kernels
from skyline.live.blocktree import Blocks, entries
from skyline.live.objects import grown
from skyline.view import Bools, Floats, Ints

BUCKET: Final = 16
"""Objects per leaf."""
_FIRST_BLOCKS: Final = 64


class _Quad(NamedTuple):
    """A tree of blocks (see `Blocks`) and, of each block that begins a node, its cell and its orthant in its parent."""

    leaf: Bools
    used: Ints
    next: Ints
    ids: Ints
    low: Floats
    high: Floats
    centre: Floats
    width: Floats
    orthant: Ints


class Quadtree:
    """A quadtree over slots at places (d,), in d dimensions a 2^d-tree. Updates O(depth (d + 2^d))."""

    def __init__(self, dimensions: int, bucket: int = BUCKET) -> None:
        self._quad = _Quad(
            leaf=np.zeros(0, np.bool_),
            used=np.zeros(0, np.int64),
            next=np.zeros(0, np.int64),
            ids=np.zeros((0, bucket), np.int64),
            low=np.zeros((0, bucket, dimensions)),
            high=np.zeros((0, bucket, dimensions)),
            centre=np.zeros((0, dimensions)),
            width=np.zeros(0),
            orthant=np.zeros(0, np.int64),
        )
        self._state = np.array([-1, -1, 0, 0], np.int64)
        self._size = 0

    def insert(self, slot: int, place: Floats) -> None:
        """Adds a slot at a place (d,)."""
        while not kernels.insert(self._quad, self._state, slot, place):
            length = max(_FIRST_BLOCKS, 2 * len(self._quad.leaf))
            self._state[kernels.SPARE] += length - len(self._quad.leaf)
            self._quad = _Quad._make(grown(array, length) for array in self._quad)
        self._size += 1

    def delete(self, slot: int, place: Floats) -> None:
        """Removes a slot from the place (d,) that it was added at."""
        if not kernels.delete(self._quad, self._state, slot, place):
            raise KeyError(slot)
        self._size -= 1

    def blocks(self) -> Blocks:
        """The tree as it is now, to be searched before the next insertion or deletion. O(1)."""
        quad = self._quad
        return Blocks(int(self._state[kernels.ROOT]), quad.leaf, quad.used, quad.next, quad.ids, quad.low, quad.high)

    def __len__(self) -> int:
        return self._size

    def _check(self) -> None:
        """Asserts tight boxes, children in their orthants, no chain of single children, no block lost. O(n d)."""
        found = entries(self.blocks())
        assert len(found) == self._size == len({slot for slot, _ in found})
        used = 0 if self._state[kernels.ROOT] < 0 else self._check_node(int(self._state[kernels.ROOT]))
        assert used + self._state[kernels.SPARE] == len(self._quad.leaf)

    def _check_node(self, node: int) -> int:
        """Checks a node and gives the number of blocks below it."""
        quad = self._quad
        children, block, used = [], node, 0
        while block >= 0:
            assert quad.leaf[block] == quad.leaf[node]
            assert quad.used[block] == len(quad.ids[block]) or block == node
            rows = range(int(quad.used[block]))
            children += [(int(quad.ids[block, e]), quad.low[block, e], quad.high[block, e]) for e in rows]
            block, used = int(quad.next[block]), used + 1
        assert children
        if quad.leaf[node]:
            return used
        assert len(children) >= 2
        assert len({quad.orthant[child] for child, _, _ in children}) == len(children)
        for child, low, high in children:
            for corner in (low, high):
                assert kernels._in_cell(quad, node, corner)
                assert kernels._orthant(quad, node, corner) == quad.orthant[child]
            used += self._check_node(child)
        return used
