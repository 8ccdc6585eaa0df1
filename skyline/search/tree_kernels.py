# mypy: ignore-errors
"""Packing points into an R-tree held in flat arrays, and finding an object in it by its id."""

from __future__ import annotations

import numpy as np
from numba import njit

LEVELS = 32
"""More than any tree has: rows are counted in 31 bits, and a node has two children at least."""

_EMPTY = np.int32(-1)
_SAMPLE = 256
RUN = 64
"""Rows that `select` looks at in one go; twice as fast as one by one on large ranges, 16 to 128 are alike."""


@njit(cache=True, nogil=True)
def pack(points, order, fanout):
    """Reorders `points` (n, d) and `order` (n,) in place, so that every run of fanout^i aligned rows is one subtree.

    A range is cut near its middle, at a multiple of the largest subtree that is smaller than it, across the
    dimension in which it is widest relative to the whole. Nodes come out full, except the last of each level.
    O(n d log n).
    """
    n, dims = points.shape
    scale = np.empty(dims)
    _extents(points, 0, n, scale)
    for i in range(dims):
        scale[i] = 1.0 / scale[i] if scale[i] > 0.0 else 0.0
    extents = np.empty(dims)
    noted = np.empty((2, RUN), np.int64)
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    top = 1
    while top > 0:
        top -= 1
        first, end = stack[top, 0], stack[top, 1]
        if end - first <= fanout:
            continue
        unit = fanout
        while unit * fanout < end - first:
            unit *= fanout
        middle = first + ((end - first + unit - 1) // unit // 2) * unit
        _extents(points, first, end, extents)
        widest = 0
        for i in range(1, dims):
            if extents[i] * scale[i] > extents[widest] * scale[widest]:
                widest = i
        select(points, order, first, end, middle, widest, noted)
        stack[top, 0], stack[top, 1] = first, middle
        stack[top + 1, 0], stack[top + 1, 1] = middle, end
        top += 2


@njit(cache=True, nogil=True)
def _extents(points, first, end, extents):
    """Width of the finite values per dimension, from a few hundred rows: one infinite value must not decide it."""
    step = max(1, (end - first) // _SAMPLE)
    for i in range(points.shape[1]):
        low, high = np.inf, -np.inf
        for row in range(first, end, step):
            value = points[row, i]
            if np.isfinite(value):
                low = min(low, value)
                high = max(high, value)
        # halves, because the width of the whole float range is infinite
        extents[i] = 0.5 * high - 0.5 * low if high > low else 0.0


@njit(cache=True, nogil=True)
def select(points, order, first, end, nth, dim, noted):
    """Quickselect: afterwards no row of [first, nth) is larger in `dim` than any row of [nth, end). O(end - first).

    Rows on the wrong side of the pivot are noted down block by block, without a branch, and then exchanged: a
    branch would be guessed wrong every other time, and cost more than all the rest. `noted` is room for that.
    """
    left, right = noted[0], noted[1]
    low, high = first, end - 1
    while low < high:
        pivot = _pivot(points, low, high, dim)
        i, j = low, high
        from_left, in_left, from_right, in_right = 0, 0, 0, 0
        while j - i >= 2 * RUN:
            if in_left == 0:
                from_left = 0
                for row in range(i, i + RUN):
                    left[in_left] = row
                    in_left += points[row, dim] >= pivot
            if in_right == 0:
                from_right = 0
                for row in range(j, j - RUN, -1):
                    right[in_right] = row
                    in_right += points[row, dim] <= pivot
            pairs = min(in_left, in_right)
            for at in range(pairs):
                _swap(points, order, left[from_left + at], right[from_right + at])
            in_left, from_left = in_left - pairs, from_left + pairs
            in_right, from_right = in_right - pairs, from_right + pairs
            if in_left == 0:
                i += RUN
            if in_right == 0:
                j -= RUN
        while i <= j:
            while points[i, dim] < pivot:
                i += 1
            while points[j, dim] > pivot:
                j -= 1
            if i <= j:
                _swap(points, order, i, j)
                i += 1
                j -= 1
        if nth <= j:
            high = j
        elif nth >= i:
            low = i
        else:
            return


@njit(cache=True, nogil=True)
def _swap(points, order, a, b):
    for c in range(points.shape[1]):
        points[a, c], points[b, c] = points[b, c], points[a, c]
    order[a], order[b] = order[b], order[a]


@njit(cache=True, nogil=True)
def _pivot(points, low, high, dim):
    """Median of nine spread over the range (of three, where it is short)."""
    step = (high - low) // 8
    middle = (low + high) // 2
    if step < 8:
        return _median(points[low, dim], points[middle, dim], points[high, dim])
    return _median(
        _median(points[low, dim], points[low + step, dim], points[low + 2 * step, dim]),
        _median(points[middle - step, dim], points[middle, dim], points[middle + step, dim]),
        _median(points[high - 2 * step, dim], points[high - step, dim], points[high, dim]),
    )


@njit(cache=True, nogil=True)
def _median(a, b, c):
    return max(min(a, b), min(max(a, b), c))


@njit(cache=True, nogil=True)
def bound(points, fanout, levels, lows, highs, counts):
    """Fills the corners and counts of all nodes, leaves first; levels[i] is the first node of level i. O(n d)."""
    n, dims = points.shape
    for leaf in range(levels[1]):
        first, end = leaf * fanout, min((leaf + 1) * fanout, n)
        counts[leaf] = end - first
        for i in range(dims):
            low, high = points[first, i], points[first, i]
            for row in range(first + 1, end):
                low = min(low, points[row, i])
                high = max(high, points[row, i])
            lows[leaf, i], highs[leaf, i] = low, high
    for level in range(1, levels.shape[0] - 1):
        for node in range(levels[level], levels[level + 1]):
            first = levels[level - 1] + (node - levels[level]) * fanout
            end = min(first + fanout, levels[level])
            counts[node] = 0
            for child in range(first, end):
                counts[node] += counts[child]
            for i in range(dims):
                low, high = lows[first, i], highs[first, i]
                for child in range(first + 1, end):
                    low = min(low, lows[child, i])
                    high = max(high, highs[child, i])
                lows[node, i], highs[node, i] = low, high


@njit(cache=True, nogil=True)
def index_ids(ids):
    """A hash table from id to row, at most half full. O(n)."""
    size = 4
    while size < 2 * ids.shape[0]:
        size *= 2
    slots = np.full(size, _EMPTY, np.int32)
    for row in range(ids.shape[0]):
        put_id(slots, ids, row)
    return slots


@njit(cache=True, nogil=True)
def put_id(slots, ids, row):
    """Lets the table find ids[row] at `row`, and no longer at an older row of the same id."""
    at = _home(ids[row], slots.shape[0])
    while slots[at] != _EMPTY and ids[slots[at]] != ids[row]:
        at = (at + 1) & (slots.shape[0] - 1)
    slots[at] = row


@njit(cache=True, nogil=True)
def find_id(slots, ids, wanted):
    """The row of this id, or -1. O(1)."""
    at = _home(wanted, slots.shape[0])
    while slots[at] != _EMPTY:
        if ids[slots[at]] == wanted:
            return slots[at]
        at = (at + 1) & (slots.shape[0] - 1)
    return _EMPTY


@njit(cache=True, nogil=True)
def _home(key, size):
    """Splitmix64's finaliser: ids that differ in any bit land far apart."""
    mixed = np.uint64(key)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((mixed ^ (mixed >> np.uint64(31))) & np.uint64(size - 1))
