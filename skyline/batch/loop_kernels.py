# mypy: ignore-errors
"""Block nested loops, for what is too small or too easy to prepare anything. Kernels of loops.py and grouped.py."""

import numpy as np
from numba import njit

from skyline.dominance_kernels import dominates

EFFORT = 32
"""Comparisons per row that are thought quick. Bitmaps cost as much as some twenty, wherever there are thousands."""

START = 8192
"""Comparisons beyond that, so that 128 rows are always finished. They take a twentieth of a millisecond."""


@njit(cache=True, nogil=True)
def skybands(points, starts, k, longest, member, unfinished):
    """Skyband of each stretch of rows by itself, if that is quickly done.

    points (n, d); stretch g is the rows starts[g] to starts[g + 1]; member (n,) bool out, zero on entry. A stretch of
    more than `longest` rows, or that takes more comparisons than are thought quick, is listed in `unfinished`
    (stretches,) instead. -> how many are listed. O(nd)
    """
    window = np.empty(longest, np.int64)
    hits = np.empty(longest, np.int64)
    given_up = 0
    for g in range(len(starts) - 1):
        low = starts[g]
        high = starts[g + 1]
        size = _skyband(points, low, high, k, window, hits) if high - low <= longest else -1
        if size < 0:
            unfinished[given_up] = g
            given_up += 1
        for at in range(size):
            member[window[at]] = True
    return given_up


@njit(cache=True, nogil=True)
def _skyband(points, low, high, k, window, hits):
    """Writes the rows low to high that fewer than k of them dominate to `window`. -> how many; -1 if given up.

    The window holds the rows that fewer than k rows so far dominate. One that is dropped need not be counted later:
    whoever it dominates is dominated by k rows of the skyband as well. A row that dominates moves to the front,
    where it meets the next ones first.
    """
    size = 0
    budget = START
    for row in range(low, high):
        budget += EFFORT
        if budget < 0:
            return -1
        dominators = 0
        at = 0
        while at < size and dominators < k:
            other = window[at]
            budget -= 1
            if dominates(points, other, points, row):
                dominators += 1
                if at > 0:
                    ahead = at // 2
                    window[at], window[ahead] = window[ahead], window[at]
                    hits[at], hits[ahead] = hits[ahead], hits[at]
            elif dominates(points, row, points, other):
                hits[at] += 1
                if hits[at] >= k:
                    size -= 1
                    window[at], hits[at] = window[size], hits[size]
                    continue
            at += 1
        if dominators < k:
            window[size], hits[size] = row, dominators
            size += 1
    return size
