"""How much a window should keep: by theory for independent data, by the paper's figure 4 for the others."""

from __future__ import annotations

from typing import Final

import numpy as np

FIGURE_4: Final = {
    "independent": {2: 65, 3: 226, 4: 894, 5: 2_600},
    "correlated": {2: 16, 3: 40, 4: 64, 5: 126},
    "anti-correlated": {2: 179, 3: 1_300, 4: 5_500, 5: 14_000},
}
"""|R_N| at N = 100K as printed in "Stabbing the Sky", by distribution and number of dimensions."""


def expected_retained(n: int, dims: int) -> float:
    """Mean |R_N| of n independent elements without ties: the skyline of n random points in dims + 1 dimensions.

    Arrival is one more dimension. The mean number of maxima of i points in k dimensions is the generalised harmonic
    number H(i, k) = sum over j <= i of H(j, k - 1) / j, with H(i, 1) = 1. O(n dims).

    >>> expected_retained(2, 1)
    1.5
    """
    numbers = np.arange(1, n + 1)
    harmonic = np.ones(n)
    for _ in range(dims):
        harmonic = np.cumsum(harmonic / numbers)
    return float(harmonic[-1])
