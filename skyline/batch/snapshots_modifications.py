"""The 2014 paper's update records, resolved to the new values that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from skyline.batch.arrays import table
from skyline.batch.snapshots_input import checked_rows
from skyline.batch.snapshots_modifications_kernels import ADD, AVERAGE, MULTIPLY, REPLACE, modify
from skyline.errors import InvalidInput
from skyline.view import Floats, Ints

OPERATORS: Final = {"replace": REPLACE, "add": ADD, "multiply": MULTIPLY, "average": AVERAGE}
"""What a record makes of a value p with its operand q: q, p + q, p * q, (p + q) / 2."""


def resolve(
    points: npt.ArrayLike, rows: npt.ArrayLike, operators: str | Sequence[str], operands: npt.ArrayLike
) -> tuple[Ints, Floats]:
    """New values of the rows that the records touch: (u,) rows, ascending, and their (u, d) values. O(n log n + nd).

    points (N, d) are the values now, not normalised, and stay as they are; record n modifies rows[n] by operators[n]
    (or all by the one operator given) with operands[n] (d,). Records of one row take effect in order. The result is
    what `SnapshotSkyline.apply` takes.

    >>> resolve([[10.0, 4.0], [7.0, 1.0]], [0, 1, 0], ["add", "replace", "average"], [[2, 2], [5, 5], [0, 0]])
    (array([0, 1]), array([[6., 3.],
           [5., 5.]]))
    """
    current, dimensions = table(points, None)
    given = dimensions.inward(operands)
    touched = checked_rows(rows, len(current), len(given))
    unique, places = np.unique(touched, return_inverse=True)
    values: Floats = current[unique]
    modify(values, places, _codes(operators, len(given)), given)
    meaningless = np.isnan(values).any(axis=1)
    if meaningless.any():
        row = unique[meaningless][0]
        raise InvalidInput(f"row {row}: its records make {values[meaningless][0]} of {current[row]}; NaN has no order")
    return unique, values


def _codes(operators: str | Sequence[str], count: int) -> Ints:
    names = [operators] * count if isinstance(operators, str) else list(operators)
    if len(names) != count:
        raise InvalidInput(f"{len(names)} operators given for {count} records")
    for name in names:
        if name not in OPERATORS:
            raise InvalidInput(f"operator must be one of {', '.join(OPERATORS)}, got {name!r}")
    return np.array([OPERATORS[name] for name in names], dtype=np.int64)
