"""The definitions of tests/naive.py on arrays, fast enough for thousands of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def normalised(points: npt.NDArray[np.float64], directions: Sequence[str]) -> npt.NDArray[np.float64]:
    """Smaller is better."""
    return points * np.where(np.array(directions) == "max", -1.0, 1.0)


def dominators(points: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """How many rows dominate each row. O(n²d)"""
    counts = [((points <= point).all(axis=1) & (points < point).any(axis=1)).sum() for point in points]
    return np.array(counts, dtype=np.int64)
