# mypy: ignore-errors
"""Dominance between normalised points (smaller is better), for other kernels to call."""

from __future__ import annotations

from numba import njit

SMALLER = 1
LARGER = 2
BLOCK = 128
"""Points that `relate` is best given at a time: their flags stay in the first-level cache."""


@njit(cache=True)
def dominates(p, i, q, j):
    """Whether row i of p (n, d) dominates row j of q (m, d): nowhere larger, somewhere smaller. O(d)."""
    smaller = False
    for k in range(p.shape[1]):
        if p[i, k] > q[j, k]:
            return False
        if p[i, k] < q[j, k]:
            smaller = True
    return smaller


@njit(cache=True)
def relate(columns, start, q, j, flags):
    """How the points start, start + 1, ... of columns (d, n) relate to row j of q (m, d), many at a time. O(d len).

    Sets flags (len,) int32: SMALLER if the point is smaller somewhere, LARGER if it is larger somewhere, both or 0
    (equal). So SMALLER alone means that the point dominates row j, LARGER alone that row j dominates it. No branches:
    about seven times the speed of row by row tests among points that do not dominate one another; no gain where one of
    the first few would end the search.
    """
    # Indexing a slice from 0 lets the compiler drop the wrap-around of negative indices, and vectorise.
    for k in range(columns.shape[0]):
        column = columns[k, start : start + flags.size]
        value = q[j, k]
        if k == 0:
            for w in range(flags.size):
                flags[w] = (SMALLER if column[w] < value else 0) | (LARGER if column[w] > value else 0)
        else:
            for w in range(flags.size):
                flags[w] |= (SMALLER if column[w] < value else 0) | (LARGER if column[w] > value else 0)
