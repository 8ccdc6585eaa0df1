# mypy: ignore-errors
"""Choosing strong points. Kernel of strong.py."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def choose(contenders, sample, k, least, chosen):
    """Writes to `chosen` the contenders of which k or more dominate as many points of the sample as can be.

    contenders (c, d) and sample (s, d) normalised; chosen (limit,) out, the strongest first. Greedy: each one is the
    contender below which most points of the sample are that fewer than k chosen ones are above; as long as there are
    `least` of them. Equals count as dominated here: only speed depends on it. -> how many were chosen. O(csd)
    """
    below = np.ones((len(contenders), len(sample)), np.uint8)
    columns = np.ascontiguousarray(sample.T)
    for c in range(len(contenders)):
        flags = below[c]
        for j in range(len(columns)):
            limit = contenders[c, j]
            column = columns[j]
            for i in range(len(column)):
                flags[i] &= column[i] >= limit
    needed = np.full(len(sample), k, np.int64)
    wanted = np.ones(len(sample), np.uint8)
    count = 0
    while count < len(chosen):
        most = 0
        best = -1
        for c in range(len(contenders)):
            gain = 0
            for i in range(len(wanted)):
                gain += below[c, i] & wanted[i]
            if gain > most:
                most, best = gain, c
        if best < 0 or most < least:
            break
        for i in range(len(wanted)):
            needed[i] -= below[best, i]
            wanted[i] = needed[i] > 0
        below[best] = 0
        chosen[count] = best
        count += 1
    return count
