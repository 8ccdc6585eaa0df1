"""A packed R-tree in flat arrays: immutable but for deaths, which are only ever added."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyline.search.tree_kernels import bound, find_id, index_ids, pack
from skyline.view import NEVER, Floats, Ints

PAGE: Final = 4096
"""Bytes of a node in the paper."""


class Tree(NamedTuple):
    """n points in tree order and m nodes, leaves first. `columns` are the dimensions, and the label if there is one.

    Leaf i holds rows [i * fanout, (i + 1) * fanout); node i of a higher level the same run of nodes of the level
    below. `died` and `emptied` hold the version at which a row or the last row of a node died: whoever reads as of
    an earlier version still sees it.
    """

    points: Floats  # (n, columns)
    ids: Ints  # (n,)
    died: Ints  # (n,)
    lows: Floats  # (m, columns)
    highs: Floats  # (m, columns)
    counts: Ints  # (m,) rows alive now
    emptied: Ints  # (m,)
    levels: Ints  # (height + 1,) first node of each level, and m
    slots: npt.NDArray[np.int32]  # open-addressing hash table from id to row, -1 where empty


def page_entries(columns: int, page: int = PAGE) -> int:
    """Entries of a page as in the paper: two corners of 4-byte numbers and a 4-byte pointer each.

    At 4 KB that is 204 in 2 dimensions, as the paper says, 146 in 3, and 93 in 5 (it says 94).
    """
    return page // (2 * columns * 4 + 4)


def build(points: Floats, ids: Ints, fanout: int) -> Tree:
    """Packs `points` (n, columns), n >= 1, which it may reorder in place. Holds no GIL to speak of. O(n d log n)."""
    order = np.arange(len(points))
    pack(points, order, fanout)
    levels = _levels(len(points), fanout)
    nodes = int(levels[-1])
    lows, highs = np.empty((nodes, points.shape[1])), np.empty((nodes, points.shape[1]))
    counts = np.empty(nodes, np.int64)
    bound(points, fanout, levels, lows, highs, counts)
    ids = ids[order]
    return Tree(
        points,
        ids,
        np.full(len(points), NEVER),
        lows,
        highs,
        counts,
        np.full(nodes, NEVER),
        levels,
        index_ids(ids),
    )


def empty(capacity: int, columns: int) -> Tree:
    """A part without nodes, to which rows are appended as they come."""
    return Tree(
        np.empty((capacity, columns)),
        np.empty(capacity, np.int64),
        np.full(capacity, NEVER),
        np.empty((0, columns)),
        np.empty((0, columns)),
        np.empty(0, np.int64),
        np.empty(0, np.int64),
        np.zeros(1, np.int64),
        np.full(1 << (2 * capacity - 1).bit_length(), -1, np.int32),
    )


def _levels(n: int, fanout: int) -> Ints:
    sizes = [-(-n // fanout)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // fanout))
    return np.cumsum([0, *sizes])


def check(tree: Tree, fanout: int) -> None:
    """Asserts that every node bounds its rows and counts the live ones, and that every row is found by its id. O(n)."""
    alive = tree.died == NEVER
    assert len(tree.levels) == 1 or tree.levels[-1] - tree.levels[-2] == 1, "one root"
    for level in range(len(tree.levels) - 1):
        reach = fanout ** (level + 1)
        for node in range(tree.levels[level], tree.levels[level + 1]):
            first = (node - tree.levels[level]) * reach
            rows = slice(first, first + reach)
            assert (tree.points[rows] >= tree.lows[node]).all()
            assert (tree.points[rows] <= tree.highs[node]).all()
            assert tree.counts[node] == alive[rows].sum()
            assert (tree.emptied[node] == NEVER) == (tree.counts[node] > 0)
    assert len(np.unique(tree.ids)) == len(tree.ids), "an id has one row in a tree"
    assert all(find_id(tree.slots, tree.ids, name) == row for row, name in enumerate(tree.ids))
