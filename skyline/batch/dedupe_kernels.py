# mypy: ignore-errors
"""Finding equal points by hashing. Kernels of settle.py."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def first_equals(points, first):
    """first[i] = the smallest row whose point equals that of row i. -> how many rows are their own first.

    points (n, d) without -0.0 and NaN, so that equal points have equal bits. Open addressing in a table of at least
    2n places. O(nd) expected.
    """
    n, d = points.shape
    bits = points.view(np.uint64)
    places = 16
    while places < 2 * n:
        places *= 2
    mask = np.uint64(places - 1)
    table = np.full(places, -1, np.int64)
    distinct = 0
    for i in range(n):
        mixed = np.uint64(0)
        for j in range(d):
            mixed = (mixed ^ bits[i, j]) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
        place = mixed & mask
        while True:
            other = table[place]
            if other < 0:
                table[place] = i
                first[i] = i
                distinct += 1
                break
            equal = True
            for j in range(d):
                equal &= bits[i, j] == bits[other, j]
            if equal:
                first[i] = other
                break
            place = (place + np.uint64(1)) & mask
    return distinct
