"""Points as the caller gives them, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyline.batch.scan_kernels import gather, scan
from skyline.errors import InvalidInput
from skyline.view import Dimensions, Floats, Ints


def as_floats(points: npt.ArrayLike) -> Floats:
    """The points as a float64 array, itself if it is one."""
    try:
        return np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"points must be numbers: {error}") from None


@dataclass(frozen=True)
class Points:
    """An (n, d) array as it was given, in any layout, with the signs that make smaller better.

    Nothing is copied: a million rows are read once, and only those that matter are ever normalised.
    """

    given: Floats
    dimensions: Dimensions
    signs: Floats

    @classmethod
    def of(cls, points: npt.ArrayLike, directions: Sequence[str] | None) -> Points:
        """Refuses what is not an (n, d) array of numbers, 1 to 16 dimensions. NaN shows only when rows are read."""
        array = as_floats(points)
        if array.ndim == 1 and array.size == 0:
            array = array.reshape(0, len(directions) if directions is not None else 1)
        if array.ndim != 2:
            raise InvalidInput(f"points must have shape (n, d), got {array.shape}")
        dimensions = Dimensions.unnamed(directions, array.shape[1])
        return cls(array, dimensions, dimensions.signs)

    def __len__(self) -> int:
        return len(self.given)

    def scan(self, strong: Floats, k: int, part: slice) -> Ints:
        """Rows of this part that fewer than k of the `strong` points (normalised) dominate, ascending."""
        rows = np.empty(part.stop - part.start, np.int64)
        count, nan_seen = scan(self.given[part], self.signs, strong, k, part.start, rows)
        if nan_seen:
            # says which row and dimension
            self.dimensions.inward(self.given)
        return rows[:count]

    def normalised(self, rows: Ints) -> Floats:
        """The points of these rows, smaller is better, without -0.0, C-contiguous."""
        chosen = np.empty((len(rows), len(self.dimensions)))
        gather(self.given, self.signs, rows, chosen)
        return chosen


def check_count(value: object, name: str) -> int:
    """The value as an int, if it is an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InvalidInput(f"{name} must be an integer of at least 1, got {value!r}")
    return int(value)
