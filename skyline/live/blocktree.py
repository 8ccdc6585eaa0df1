"""A tree of boxes in flat arrays: the one form in which the R*-tree and the quadtree are searched.

An index does not see points but their places: an order-preserving image of them that is finite, at least
two-dimensional, and small enough that no volume overflows. Ordinary numbers are their own place.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from skyline.live.blocktree_kernels import place
from skyline.view import Bools, Floats, Ints


class Blocks(NamedTuple):
    """b blocks of up to c entries; a node is a chain of blocks, known by the first.

    root    the root's block, or -1 if there are no entries
    leaf    (b,) whether the block's entries are objects
    used    (b,) entries in use
    next    (b,) the node's next block, or -1
    ids     (b, c) what an entry stands for: a slot in a leaf, a child's block elsewhere
    low     (b, c, d) and high (b, c, d): the entry's box, in places
    """

    root: int
    leaf: Bools
    used: Ints
    next: Ints
    ids: Ints
    low: Floats
    high: Floats


class Index(Protocol):
    """What the engines of the papers need of a spatial index over slots."""

    def insert(self, slot: int, place: Floats) -> None:
        """Adds a slot at a place (d,)."""

    def delete(self, slot: int, place: Floats) -> None:
        """Removes a slot from the place (d,) that it was added at."""

    def blocks(self) -> Blocks:
        """The tree as it is now, to be searched before the next insertion or deletion."""

    def __len__(self) -> int:
        """Number of slots."""

    def _check(self) -> None:
        """Asserts every invariant."""


class Places:
    """The place of every slot, in an array that grows with the table of objects."""

    def __init__(self, dimensions: int) -> None:
        self.rows: Floats = np.zeros((0, max(2, dimensions)))

    def put(self, points: Floats, slots: Ints) -> None:
        """Places the given slots at their points, rows of (capacity, d) `points`. O(d) per slot."""
        if len(self.rows) < len(points):
            larger: Floats = np.zeros((len(points), self.rows.shape[1]))
            larger[: len(self.rows)] = self.rows
            self.rows = larger
        place(points, slots, self.rows)


def entries(tree: Blocks) -> list[tuple[int, Floats]]:
    """All (slot, place) in the tree; asserts that every box is the tight one of what lies below. For checks."""
    found: list[tuple[int, Floats]] = []
    _collect(tree, tree.root, found)
    return found


def _collect(tree: Blocks, block: int, found: list[tuple[int, Floats]]) -> tuple[Floats, Floats]:
    """Collects a node's slots and gives its box."""
    lows, highs = [], []
    while block >= 0:
        for entry in range(int(tree.used[block])):
            low, high = tree.low[block, entry], tree.high[block, entry]
            if tree.leaf[block]:
                assert (low == high).all()
                found.append((int(tree.ids[block, entry]), low.copy()))
            else:
                below = _collect(tree, int(tree.ids[block, entry]), found)
                assert (low == below[0]).all()
                assert (high == below[1]).all()
            lows.append(low)
            highs.append(high)
        block = int(tree.next[block])
    infinity = np.full(tree.low.shape[2], np.inf)
    return np.min([infinity, *lows], axis=0), np.max([-infinity, *highs], axis=0)
