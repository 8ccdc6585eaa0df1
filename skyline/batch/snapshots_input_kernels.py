# mypy: ignore-errors
"""The common case of `checked_updates`, in one pass."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def admit(rows, points, signs, size, values):
    """Writes the inward points (n, d) to values (n, d); False if a row is not from 0 to size - 1 or a value is NaN.

    The same as `Dimensions.inward`: + 0.0 turns -0.0 into 0.0.
    """
    good = True
    for n in range(rows.size):
        good &= 0 <= rows[n] < size
        for k in range(signs.size):
            value = points[n, k] * signs[k] + 0.0
            good &= value == value
            values[n, k] = value
    return good
