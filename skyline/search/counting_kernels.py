# mypy: ignore-errors
"""How many objects a point dominates, from the counts that the nodes carry."""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.search.tree_kernels import LEVELS

NEVER = 2**63 - 1
_OUTSIDE, _PARTLY, _INSIDE = 0, 1, 2


@njit(cache=True, nogil=True)
def count_dominated(parts, visible, fanout, dims, targets, floor, least, most):
    """Bounds on the number of live objects that each target (m, dims) dominates, to least (m,) and most (m,).

    Nodes of level `floor` are not opened: with floor -1 the bounds are exact and meet. A node of which all or no
    point is dominated is never opened. O(m n^(1 - 1/d)) about.
    """
    stack = np.empty(fanout * LEVELS, np.int64)
    for part in range(len(parts)):
        tree = parts[part]
        points, died, levels, counts = tree.points, tree.died, tree.levels, tree.counts
        nodes = counts.shape[0]
        for i in range(targets.shape[0]):
            if nodes == 0:
                exact = _count_points(points, died, 0, visible[part], dims, targets, i)
                least[i] += exact
                most[i] += exact
                continue
            stack[0] = nodes - 1
            top = 1
            while top > 0:
                top -= 1
                node = stack[top]
                where = _relation(tree.lows, tree.highs, node, dims, targets, i)
                if where == _OUTSIDE:
                    continue
                if where == _INSIDE:
                    least[i] += counts[node]
                    most[i] += counts[node]
                    continue
                level = 0
                while levels[level + 1] <= node:
                    level += 1
                if level <= floor:
                    most[i] += counts[node]
                elif level == 0:
                    end = min((node + 1) * fanout, points.shape[0])
                    exact = _count_points(points, died, node * fanout, end, dims, targets, i)
                    least[i] += exact
                    most[i] += exact
                else:
                    first = levels[level - 1] + (node - levels[level]) * fanout
                    for child in range(first, min(first + fanout, levels[level])):
                        if counts[child] > 0:
                            stack[top] = child
                            top += 1


@njit(cache=True, nogil=True)
def _relation(lows, highs, node, dims, targets, i):
    """Whether the target dominates none, some or all of what the node may hold."""
    inside, better = True, False
    for c in range(dims):
        if highs[node, c] < targets[i, c]:
            return _OUTSIDE
        if lows[node, c] < targets[i, c]:
            inside = False
        elif lows[node, c] > targets[i, c]:
            better = True
    return _INSIDE if inside and better else _PARTLY


@njit(cache=True, nogil=True)
def _count_points(points, died, first, end, dims, targets, i):
    """Without branches: what a point near the border does is a toss-up."""
    count = 0
    for slot in range(first, end):
        above, equal = died[slot] == NEVER, True
        for c in range(dims):
            above &= points[slot, c] >= targets[i, c]
            equal &= points[slot, c] == targets[i, c]
        count += above & (not equal)
    return count


@njit(cache=True, nogil=True)
def covered(samples, corners):
    """Which samples (n, d) have a corner (m, d) that is nowhere larger. O(n m d)."""
    covers = np.zeros(samples.shape[0], np.bool_)
    for i in range(samples.shape[0]):
        for j in range(corners.shape[0]):
            below = True
            for c in range(samples.shape[1]):
                if corners[j, c] > samples[i, c]:
                    below = False
                    break
            if below:
                covers[i] = True
                break
    return covers
