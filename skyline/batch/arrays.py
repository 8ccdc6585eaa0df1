"""Points as the caller gives them, checked once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyline.batch.scan_kernels import gather, scan
from skyline.errors import InvalidInput
from skyline.view import Dimensions, Directions, Floats, Ints, numbers


def table(points: npt.ArrayLike, directions: Directions) -> tuple[Floats, Dimensions]:
    """Points as an (n, d) array of float64, itself if it is one, and what their columns are.

    Refuses what is not a table of numbers, and other than 1 to 16 dimensions; NaN may still be in it.
    """
    array = numbers(points)
    if array.shape == (0,):
        dimensions = Dimensions.unnamed(directions)
        return array.reshape(0, len(dimensions)), dimensions
    if array.ndim != 2:
        raise InvalidInput(f"points must have shape (n, d), got {array.shape}")
    return array, Dimensions.unnamed(directions, array.shape[1])


@dataclass(frozen=True)
class Points:
    """An (n, d) array as it was given, in any layout, with the signs that make smaller better.

    Nothing is copied: a million rows are read once, and only those that matter are ever normalised.
    """

    given: Floats
    dimensions: Dimensions
    signs: Floats

    @classmethod
    def of(cls, points: npt.ArrayLike, directions: Directions) -> Points:
        """Refuses what is not an (n, d) array of numbers, 1 to 16 dimensions. NaN shows only when rows are read."""
        given, dimensions = table(points, directions)
        return cls(given, dimensions, dimensions.signs)

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
