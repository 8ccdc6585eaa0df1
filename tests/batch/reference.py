"""The definitions of tests/naive.py on arrays, fast enough for thousands of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def normalised(points: npt.NDArray[np.float64], directions: Sequence[str]) -> npt.NDArray[np.float64]:
    """Smaller is better."""
    return points * np.where(np.array(directions) == "max", -1.0, 1.0)


def dominators(points: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """How many rows dominate each row: those that are nowhere larger, but for its equals. O(n²d)"""
    _, of, equals = np.unique(points + 0.0, axis=0, return_inverse=True, return_counts=True)
    columns = np.ascontiguousarray(points.T)
    counts = np.empty(len(points), np.int64)
    for row, point in enumerate(points):
        below = columns[0] <= point[0]
        for column, value in zip(columns[1:], point[1:], strict=True):
            below &= column <= value
        counts[row] = np.count_nonzero(below)
    return counts - equals[of.ravel()]
