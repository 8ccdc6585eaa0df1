# mypy: ignore-errors
"""The naive rivals of benchmarks/snapshots.py: the skyline of all objects, computed from nothing each time.

Compiled like everything that they are compared with; otherwise the comparison would be of languages.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.dominance_kernels import dominates


@njit(cache=True)
def block_nested_loop(points):
    """Rows of the skyline of points (n, d), by Börzsönyi's window, the 2014 paper's default for both its methods.

    A point of the window that was found to dominate moves halfway to the front, which pays well.
    """
    window = np.empty_like(points)
    rows = np.empty(len(points), np.int64)
    size = 0
    for row in range(len(points)):
        w = 0
        dominated = False
        while w < size:
            smaller, larger = False, False
            for k in range(points.shape[1]):
                if window[w, k] < points[row, k]:
                    smaller = True
                    if larger:
                        break
                elif window[w, k] > points[row, k]:
                    larger = True
                    if smaller:
                        break
            if smaller and not larger:
                dominated = True
                _swap(window, rows, w, w // 2)
                break
            if larger and not smaller:
                size -= 1
                _swap(window, rows, w, size)
            else:
                w += 1
        if not dominated:
            for k in range(points.shape[1]):
                window[size, k] = points[row, k]
            rows[size] = row
            size += 1
    return rows[:size]


@njit(cache=True)
def sort_filter(points, order):
    """Rows of the skyline of points (n, d), given in an order in which none comes before one that dominates it."""
    window = np.empty_like(points)
    rows = np.empty(len(points), np.int64)
    size = 0
    for row in order:
        w = 0
        while w < size and not dominates(window, w, points, row):
            w += 1
        if w == size:
            for k in range(points.shape[1]):
                window[size, k] = points[row, k]
            rows[size] = row
            size += 1
    return rows[:size]


@njit(cache=True)
def _swap(window, rows, i, j):
    rows[i], rows[j] = rows[j], rows[i]
    for k in range(window.shape[1]):
        window[i, k], window[j, k] = window[j, k], window[i, k]
