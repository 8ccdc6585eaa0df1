# mypy: ignore-errors
"""Parents and children: each node names its first child, and siblings form a ring through NEXT and PREV.

The strongest children, those that dominate much of what the parent dominates, come first; the newest come last. A node
with many children passes a newcomer on to one of its first few that dominates it. Those that fit nowhere collect at the
end of the ring, and once in a while a stretch of it is sorted out (`_sort_out`): so a node keeps about as many children
as there are among its descendants that few others dominate, and no event has to find a new place for all of them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.dominance_kernels import dominates
from skyline.live.fetch_kernels import fetch_row
from skyline.live.roots_kernels import CHILD, FAN, LATELY, NEXT, PARENT, PREV

FEW = 512
"""A parent with fewer children takes another without looking for a better place: the farther above an object its parent
lies, the more of its moves leave it where it is, and 512 children find new parents in less than a millisecond."""
TRIES = 8
"""Children, the strongest, that are tried on each level."""
STEPS = 8
"""Levels that an object sinks at most when it is attached, and climbs at most before the roots are searched."""
STRETCH = 512
"""Children that are sorted out at a time."""
PIVOTS = 64
"""The strongest of them, with which the others are compared."""
PATIENCE = 128
"""Newcomers to a large family between two sortings: about 1.5 µs of sorting for each."""


@njit(cache=True)
def attach(nodes, points, parent, x):
    """Makes x a child of `parent`, which dominates it, or of one below that also does.

    O(d), whatever the fan-out, but for the sorting out: `STRETCH` times `PIVOTS` tests after `PATIENCE` newcomers.
    """
    for _ in range(STEPS):
        if nodes[parent, FAN] < FEW:
            link(nodes, parent, x)
            return
        below = _strong_dominator(nodes, points, parent, x)
        if below < 0:
            break
        parent = below
    link(nodes, parent, x)
    nodes[parent, LATELY] += 1
    if nodes[parent, LATELY] >= PATIENCE:
        nodes[parent, LATELY] = 0
        _sort_out(nodes, points, parent)


@njit(cache=True)
def _strong_dominator(nodes, points, parent, x):
    """Of the parent's first children that dominate x, the one with the fewest children; -1 if there is none.

    One with few is taken at once. So strong siblings, each of which dominates almost all there is, share it, and depth
    grows with the logarithm of the family.
    """
    child, best = nodes[parent, CHILD], -1
    for _ in range(TRIES):
        if (best < 0 or nodes[child, FAN] < nodes[best, FAN]) and dominates(points, child, points, x):
            best = child
            if nodes[best, FAN] < FEW:
                break
        child = nodes[child, NEXT]
    return best


@njit(cache=True)
def _sort_out(nodes, points, parent):
    """Compares a stretch of the children, the first and the last ones, with the strongest among them.

    Those that are dominated go below. Of the others the strongest come first in the ring, in that order, then the rest
    of the stretch, then the children that were not looked at, so that the next stretch is another one. O(d) for each
    pair of `STRETCH` and `PIVOTS`.
    """
    n = min(nodes[parent, FAN], STRETCH)
    slots = np.empty(n, np.int64)
    child = nodes[parent, CHILD]
    ahead = min(n // 2, PIVOTS)
    for i in range(ahead):
        slots[i] = child
        child = nodes[child, NEXT]
    child = nodes[parent, CHILD]
    for i in range(ahead, n):
        child = nodes[child, PREV]
        slots[i] = child
    order = np.argsort(_weakness(points, slots))
    for slot in slots:
        unlink(nodes, slot)
    kept, pivots = 0, 0
    for i in order:
        slot = slots[i]
        above = -1
        for j in range(pivots):
            pivot = slots[order[j]]
            if (above < 0 or nodes[pivot, FAN] < nodes[above, FAN]) and dominates(points, pivot, points, slot):
                above = pivot
                if nodes[above, FAN] < FEW:
                    break
        if above >= 0:
            link(nodes, above, slot)
            continue
        order[kept] = i
        kept += 1
        pivots = min(kept, PIVOTS)
    for j in range(kept - 1, -1, -1):
        link(nodes, parent, slots[order[j]])
        nodes[parent, CHILD] = slots[order[j]]


@njit(cache=True)
def _weakness(points, slots):
    """Distance (n,) from the common lower corner, in units of the extent by dimension: the less, the more it dominates.

    A dimension in which they do not differ, or by infinity, does not count.
    """
    weakness = np.zeros(len(slots))
    for k in range(points.shape[1]):
        low, high = np.inf, -np.inf
        for slot in slots:
            low, high = min(low, points[slot, k]), max(high, points[slot, k])
        extent = high - low if high > low else 0.0
        if 0.0 < extent < np.inf:
            for i in range(len(slots)):
                weakness[i] += (points[slots[i], k] - low) / extent
    return weakness


@njit(cache=True)
def link(nodes, parent, x):
    """Makes x the last child of `parent`."""
    first = nodes[parent, CHILD]
    nodes[x, PARENT] = parent
    nodes[parent, FAN] += 1
    if first < 0:
        nodes[parent, CHILD] = x
        nodes[x, NEXT] = nodes[x, PREV] = x
        return
    last = nodes[first, PREV]
    nodes[x, PREV], nodes[x, NEXT] = last, first
    nodes[last, NEXT] = nodes[first, PREV] = x


@njit(cache=True)
def unlink(nodes, x):
    """x has no parent any more."""
    parent = nodes[x, PARENT]
    before, after = nodes[x, PREV], nodes[x, NEXT]
    nodes[parent, FAN] -= 1
    if after == x:
        nodes[parent, CHILD] = -1
        return
    nodes[before, NEXT], nodes[after, PREV] = after, before
    if nodes[parent, CHILD] == x:
        nodes[parent, CHILD] = after


@njit(cache=True)
def release_children(nodes, points, x, all_of_them, out):
    """Unlinks the children of x, or those that it no longer dominates; lists them in `out`, gives their number."""
    released = 0
    child = np.int64(nodes[x, CHILD])
    for _ in range(nodes[x, FAN]):
        after = np.int64(nodes[child, NEXT])
        fetch_row(nodes, after)
        fetch_row(points, after)
        if all_of_them or not dominates(points, x, points, child):
            unlink(nodes, child)
            out[released] = child
            released += 1
        child = after
    return released


@njit(cache=True)
def dominating_ancestor(nodes, points, parent, x):
    """The first above `parent` that dominates x, or -1. Moves are small, mostly, and ancestors dominate more."""
    for _ in range(STEPS):
        parent = nodes[parent, PARENT]
        if parent < 0:
            return -1
        if dominates(points, parent, points, x):
            return parent
    return -1
