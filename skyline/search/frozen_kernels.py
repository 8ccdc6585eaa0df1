# mypy: ignore-errors
"""Counting and collecting as of a snapshot: only what never changes is read, and deaths by their version."""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.search.tree_kernels import LEVELS

_OUTSIDE, _PARTLY, _INSIDE = 0, 1, 2


@njit(cache=True, nogil=True)
def count_as_of(parts, visible, version, fanout, query, targets, out):
    """Adds to out (m,) how many rows each target (m, columns) dominates, in the question's space, box and group."""
    stack = np.empty(fanout * LEVELS, np.int64)
    for part in range(len(parts)):
        tree = parts[part]
        levels = tree.levels
        height = levels.shape[0] - 1
        for i in range(targets.shape[0]):
            if height == 0:
                out[i] += _count_rows(tree.points, tree.died, 0, visible[part], version, query, targets, i)
                continue
            stack[0] = levels[height] - 1
            top = 1
            while top > 0:
                top -= 1
                node = stack[top]
                where = _relation(tree.lows, tree.highs, node, query, targets, i)
                if where == _OUTSIDE:
                    continue
                level = 0
                while levels[level + 1] <= node:
                    level += 1
                if where == _INSIDE or level == 0:
                    reach = fanout ** (level + 1)
                    first = (node - levels[level]) * reach
                    end = min(first + reach, tree.points.shape[0])
                    if where == _INSIDE:
                        out[i] += _count_alive(tree.died, first, end, version)
                    else:
                        out[i] += _count_rows(tree.points, tree.died, first, end, version, query, targets, i)
                else:
                    first = levels[level - 1] + (node - levels[level]) * fanout
                    for child in range(first, min(first + fanout, levels[level])):
                        stack[top] = child
                        top += 1


@njit(cache=True, nogil=True)
def collect(parts, visible, version, fanout, query, out):
    """Writes id, part and slot of rows in the question's box to out (most, 3) until it is full; gives their number."""
    stack = np.empty(fanout * LEVELS, np.int64)
    found = 0
    for part in range(len(parts)):
        tree = parts[part]
        levels = tree.levels
        height = levels.shape[0] - 1
        stack[0] = levels[height] - 1
        top = 1
        while top > 0 and found < out.shape[0]:
            top -= 1
            node = stack[top]
            if height > 0 and _box(tree.lows, tree.highs, node, query) == _OUTSIDE:
                continue
            level = 0
            while level < height and levels[level + 1] <= node:
                level += 1
            if height == 0 or level == 0:
                first = 0 if height == 0 else node * fanout
                end = visible[part] if height == 0 else min(first + fanout, tree.points.shape[0])
                for row in range(first, end):
                    if found < out.shape[0] and tree.died[row] > version and _in_box(tree.points, row, query):
                        out[found, 0], out[found, 1], out[found, 2] = tree.ids[row], part, row
                        found += 1
            else:
                first = levels[level - 1] + (node - levels[level]) * fanout
                for child in range(first, min(first + fanout, levels[level])):
                    stack[top] = child
                    top += 1
    return found


@njit(cache=True, nogil=True)
def _box(lows, highs, node, query):
    """Whether none, some or all of what the node may hold lies in the box."""
    inside = True
    for c in range(lows.shape[1]):
        if highs[node, c] < query.low[c] or lows[node, c] > query.high[c]:
            return _OUTSIDE
        inside &= lows[node, c] >= query.low[c] and highs[node, c] <= query.high[c]
    return _INSIDE if inside else _PARTLY


@njit(cache=True, nogil=True)
def _relation(lows, highs, node, query, targets, i):
    """Whether the target dominates none, some or all of what the node may hold, among those that take part."""
    inside = True
    if query.boxed:
        where = _box(lows, highs, node, query)
        if where == _OUTSIDE:
            return _OUTSIDE
        inside = where == _INSIDE
    if query.grouped:
        last = lows.shape[1] - 1
        if highs[node, last] < targets[i, last] or lows[node, last] > targets[i, last]:
            return _OUTSIDE
        inside &= lows[node, last] == highs[node, last]
    better = False
    for s in range(query.dims.shape[0]):
        c = query.dims[s]
        low, high = lows[node, c], highs[node, c]
        mine = _seen(targets[i, c], query.reference[s])
        if not np.isnan(query.reference[s]):
            a, b = abs(low - query.reference[s]), abs(high - query.reference[s])
            spans = low <= query.reference[s] <= high
            low, high = 0.0 if spans else min(a, b), max(a, b)
        if high < mine:
            return _OUTSIDE
        if low < mine:
            inside = False
        elif low > mine:
            better = True
    return _INSIDE if inside and better else _PARTLY


@njit(cache=True, nogil=True)
def _seen(value, reference):
    return value if np.isnan(reference) else abs(value - reference)


@njit(cache=True, nogil=True)
def _in_box(points, row, query):
    inside = True
    for c in range(points.shape[1]):
        inside &= query.low[c] <= points[row, c] <= query.high[c]
    return inside


@njit(cache=True, nogil=True)
def _count_alive(died, first, end, version):
    count = 0
    for row in range(first, end):
        count += died[row] > version
    return count


@njit(cache=True, nogil=True)
def _count_rows(points, died, first, end, version, query, targets, i):
    count = 0
    last = points.shape[1] - 1
    for row in range(first, end):
        if died[row] <= version or (query.boxed and not _in_box(points, row, query)):
            continue
        if query.grouped and points[row, last] != targets[i, last]:
            continue
        above, equal = True, True
        for s in range(query.dims.shape[0]):
            c = query.dims[s]
            theirs, mine = _seen(points[row, c], query.reference[s]), _seen(targets[i, c], query.reference[s])
            above &= theirs >= mine
            equal &= theirs == mine
        count += above and not equal
    return count
