"""Every invariant of a window's arrays, for tests."""

from __future__ import annotations

import numpy as np

from skyline.view import Ints
from skyline.window.layout import (
    BASE,
    DEAD,
    GONE,
    HEAD,
    LIVE,
    OPEN,
    ORIGIN,
    PARENT,
    POSITION,
    ROWS,
    SLOT,
    STAMP,
    TREE_GROUPS,
    TREE_LEVELS,
    TREE_LIVE,
    TREES,
    WIDTH,
)
from skyline.window.store import Store


def check(store: Store) -> None:
    """Asserts that rows, stab tree and index agree with one another, and with what R_N is. O(R^2)."""
    rows, meta = store.members.rows[: store.members.meta[ROWS]], store.members.meta
    live = np.flatnonzero(rows[:, SLOT] != GONE)
    assert len(live) == meta[LIVE]
    assert (live >= meta[HEAD]).all()
    assert (np.diff(rows[:, POSITION]) > 0).all()
    assert (np.diff(rows[:, STAMP]) >= 0).all()
    assert (rows[live, STAMP] > store.now - store.width).all()
    _check_dominance(store, rows, live)
    _check_floors(store, rows, live)
    _check_slots(store, rows, live)
    for tree in range(meta[TREES]):
        _check_tree(store, tree)


def _points(store: Store, slots: Ints) -> np.ndarray:
    return store.index.points[slots // WIDTH, :, slots % WIDTH]


def _check_dominance(store: Store, rows: Ints, live: Ints) -> None:
    """No younger element dominates a live one, and its critical dominator is the youngest older one that does."""
    points = _points(store, rows[live, SLOT])
    for i, row in enumerate(live):
        dominators = live[(points <= points[i]).all(axis=1) & (points < points[i]).any(axis=1)]
        assert (dominators < row).all()
        parent = rows[row, PARENT]
        if len(dominators):
            assert parent == dominators[-1]
            assert rows[row, ORIGIN] == rows[parent, STAMP] < rows[row, STAMP]
        else:
            assert parent < 0 or rows[parent, SLOT] == GONE


def _check_floors(store: Store, rows: Ints, live: Ints) -> None:
    """Every level of the stab tree holds the minima of the level below."""
    floors, size = store.members.floors, len(store.members.rows)
    expected = np.full(size, DEAD)
    expected[live] = rows[live, ORIGIN]
    start = 0
    while True:
        assert (floors[start : start + size] == expected).all()
        if size == 1:
            break
        start += size
        size = -(-size // WIDTH)
        padded = np.full(size * WIDTH, DEAD)
        padded[: len(expected)] = expected
        expected = padded.reshape(size, WIDTH).min(axis=1)


def _check_slots(store: Store, rows: Ints, live: Ints) -> None:
    """Live rows and filled slots are one to one."""
    index, meta = store.index, store.members.meta
    groups = -(-int(meta[OPEN]) // WIDTH) if meta[TREES] else 0
    assert groups * WIDTH == meta[OPEN]
    assert (index.row_of[rows[live, SLOT]] == live).all()
    filled = np.flatnonzero(~np.isnan(index.points[:, 0, :].ravel()))
    assert sorted(rows[live, SLOT].tolist()) == filled[filled < store.slots].tolist()


def _check_tree(store: Store, tree: int) -> None:
    """Boxes hold what is below them, and know at least its youngest row; trees count their live elements."""
    index = store.index
    levels, base = int(index.trees[tree, TREE_LEVELS]), index.trees[tree, BASE:]
    first, groups = int(base[0]), int(index.trees[tree, TREE_GROUPS])
    low = high = index.points[first : first + groups]
    young = index.row_of[first * WIDTH : (first + groups) * WIDTH].reshape(groups, WIDTH)
    filled = ~np.isnan(low[:, 0, :])
    assert filled.sum() == index.trees[tree, TREE_LIVE]
    for level in range(1, levels + 1):
        above = -(-groups // WIDTH)
        for i in range(groups):
            into, lane = int(base[level]) + i // WIDTH, i % WIDTH
            for j in np.flatnonzero(filled[i]):
                assert (index.low[into, :, lane] <= low[i, :, j]).all()
                assert (index.high[into, :, lane] >= high[i, :, j]).all()
                assert index.young[into, lane] >= young[i, j]
        here = slice(int(base[level]), int(base[level]) + above)
        low, high, young, groups = index.low[here], index.high[here], index.young[here], above
        filled = ~np.isnan(low[:, 0, :])
    assert groups == 1
