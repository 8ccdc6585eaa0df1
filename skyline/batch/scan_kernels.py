# mypy: ignore-errors
"""One pass over an array against a handful of strong points. Kernels of strong.py."""

import numpy as np
from numba import float64, int64, njit, types

CHUNK = 256
"""Rows looked at together: with 8 dimensions they fill half of a 32 KB first-level cache."""

# Arrow hands out read-only arrays and pandas column-major ones: one signature takes them all, without a copy and
# without compiling for each
ANY_POINTS = types.Array(float64, 2, "A", readonly=True)


@njit(cache=True, nogil=True)
def _spare_equals(x, size, point, under):
    """Takes rows that equal the point out of those under it: a point does not dominate its equals."""
    for i in range(size):
        worse = False
        for j in range(x.shape[0]):
            worse |= x[j, i] > point[j]
        under[i] &= worse


@njit(cache=True, nogil=True)
def _pack(x, size, row, hits, k):
    """Moves the rows with fewer than k hits to the front of the chunk. -> how many."""
    packed = 0
    for i in range(size):
        if hits[i] < k:
            for j in range(x.shape[0]):
                x[j, packed] = x[j, i]
            row[packed] = row[i]
            hits[packed] = hits[i]
            packed += 1
    return packed


@njit(cache=True, nogil=True)
def _not_below(points, signs, start, stop, point, row):
    """Writes the rows from start to stop that the point does not dominate to `row`. -> how many

    Row by row, leaving each at its first better coordinate: the fastest if most rows are dominated. A NaN is never
    dominated.
    """
    size = 0
    for i in range(start, stop):
        dominated = True
        for j in range(len(signs)):
            if not points[i, j] * signs[j] >= point[j]:
                dominated = False
                break
        if dominated and points[i, 0] * signs[0] == point[0]:
            dominated = False
            for j in range(1, len(signs)):
                dominated |= points[i, j] * signs[j] > point[j]
        if not dominated:
            row[size] = i
            size += 1
    return size


@njit((ANY_POINTS, float64[::1], float64[:, ::1], int64, int64, int64[::1]), cache=True, nogil=True)
def scan(points, signs, strong, k, first, rows):
    """Writes the rows of `points` that fewer than k of `strong` dominate to `rows`, numbered from `first`.

    points (n, d) as given, signs (d,), strong (s, d) with the signs applied, rows (n,) out. -> how many rows were
    written, and whether a NaN was seen. Columns of a chunk are compared as a whole, so that the compiler can do
    several rows in one instruction; a chunk is packed whenever half of it is gone. If the first strong point is rid
    of more than half a chunk, it looks at the next one row by row. O(nds) at most.
    """
    n, d = points.shape
    x = np.empty((d, CHUNK))
    row = np.empty(CHUNK, np.int64)
    hits = np.empty(CHUNK, np.int64)
    under = np.empty(CHUNK, np.int64)
    written = 0
    nans = 0
    easy = len(strong) > 0 and k == 1
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        size = stop - start
        following = 0
        if easy:
            size = _not_below(points, signs, start, stop, strong[0], row)
            easy = 2 * size < stop - start
            following = 1
        else:
            for i in range(size):
                row[i] = start + i
        for j in range(d):
            for i in range(size):
                value = points[row[i], j] * signs[j]
                x[j, i] = value
                nans += value != value
        hits[:size] = 0
        for s in range(following, len(strong)):
            limit = strong[s, 0]
            level = 0
            for i in range(size):
                under[i] = x[0, i] >= limit
                level += x[0, i] == limit
            for j in range(1, d):
                limit = strong[s, j]
                for i in range(size):
                    under[i] &= x[j, i] >= limit
            if level:
                _spare_equals(x, size, strong[s], under)
            left = 0
            for i in range(size):
                hits[i] += under[i]
                left += hits[i] < k
            if 2 * left < size:
                easy |= s == 0 and k == 1
                size = _pack(x, size, row, hits, k)
                if size == 0:
                    break
        for i in range(size):
            rows[written] = first + row[i]
            written += hits[i] < k
    return written, nans > 0


@njit((ANY_POINTS, float64[::1], int64[:], float64[:, ::1]), cache=True, nogil=True)
def gather(points, signs, rows, out):
    """Copies the rows, with the signs applied and -0.0 made 0.0, to `out` (len(rows), d)."""
    for i in range(len(rows)):
        for j in range(points.shape[1]):
            out[i, j] = points[rows[i], j] * signs[j] + 0.0
