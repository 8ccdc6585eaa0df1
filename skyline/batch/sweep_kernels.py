# mypy: ignore-errors
"""Skylines of distinct points in two and three dimensions, by one sweep in sorted order. Kernels of settle.py."""

import numpy as np
from numba import njit

_NOTHING_YET = np.nan
"""Best coordinate of no points at all: nothing is at least as bad as it, infinity included."""


@njit(cache=True, nogil=True)
def sweep2(points, order, member):
    """member[i] = whether no point dominates point i; `order` is lexicographic, points are distinct. O(n).

    Whoever dominates a point comes before it, and all that come before it are at least as good in the first dimension.
    """
    best = _NOTHING_YET
    for i in order:
        member[i] = not best <= points[i, 1]
        if member[i]:
            best = points[i, 1]


@njit(cache=True, nogil=True)
def sweep3(points, order, rank, member):
    """member[i] = whether no point dominates point i; `order` is lexicographic, points are distinct. O(n log n).

    rank (n,) orders the second dimension: 1 for the best, equal for equals. A Fenwick tree over the ranks answers
    what the best third coordinate is among the members so far that are at least as good in the second.
    """
    n = len(points)
    best = np.full(n + 1, _NOTHING_YET)
    for i in order:
        value = points[i, 2]
        dominated = False
        at = rank[i]
        while at > 0 and not dominated:
            dominated = best[at] <= value
            at &= at - 1
        member[i] = not dominated
        at = n + 1 if dominated else rank[i]
        while at <= n:
            if not best[at] <= value:
                best[at] = value
            at += at & -at
