# mypy: ignore-errors
"""The loop behind `resolve`."""

from __future__ import annotations

from numba import njit

REPLACE = 0
ADD = 1
MULTIPLY = 2
AVERAGE = 3


@njit(cache=True)
def modify(values, places, codes, operands):
    """Applies record n, operands[n] (d,) by the operator codes[n], to values[places[n]] (d,), in order. O(nd)."""
    for n in range(places.size):
        place, code = places[n], codes[n]
        for k in range(values.shape[1]):
            operand = operands[n, k]
            if code == REPLACE:
                values[place, k] = operand
            elif code == ADD:
                values[place, k] += operand
            elif code == MULTIPLY:
                values[place, k] *= operand
            else:
                values[place, k] = (values[place, k] + operand) / 2.0
