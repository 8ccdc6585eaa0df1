# mypy: ignore-errors
"""Skyline layers of rows that come in lexicographic order, so that whatever dominates a row has come before it."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def peel(rows, start, stop, heads, behind, deepest):
    """Puts rows [start, stop) in their layers; gives the number of the deepest one so far.

    heads: (layers,) the newest row of each layer, -1 while it is empty; behind: (m,) the one before it in its layer.
    Ends early once the last layer has a row. What a layer's row dominates, some row of every layer before it does:
    so the layer is found by bisection.
    """
    for row in range(start, stop):
        first, end = 0, deepest
        while first < end:
            middle = (first + end) // 2
            if _dominated(rows, row, heads[middle], behind):
                first = middle + 1
            else:
                end = middle
        behind[row] = heads[first]
        heads[first] = row
        deepest = max(deepest, first + 1)
        if deepest == heads.shape[0]:
            break
    return deepest


@njit(cache=True, nogil=True)
def _dominated(rows, row, other, behind):
    """Whether a row of the layer that ends with `other` dominates this one."""
    while other >= 0:
        worse = False
        better = False
        for i in range(rows.shape[1]):
            if rows[other, i] > rows[row, i]:
                worse = True
                break
            better |= rows[other, i] < rows[row, i]
        if better and not worse:
            return True
        other = behind[other]
    return False
