"""Points and row numbers as callers give them, checked once on the way in."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from skyline.batch.snapshots_input_kernels import admit
from skyline.errors import InvalidInput
from skyline.view import Dimensions, Floats, Ints


def checked_rows(rows: npt.ArrayLike, size: int, count: int) -> Ints:
    """`count` row numbers from 0 to size - 1, as a C-contiguous int64 array; anything else is refused. O(n)."""
    try:
        array = np.asarray(rows)
    except ValueError as error:
        raise InvalidInput(f"rows must be a sequence of integers: {error}") from None
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidInput(f"rows must be a sequence of integers, got {array.dtype} of shape {array.shape}")
    if array.size != count:
        raise InvalidInput(f"{array.size} rows given for {count} points")
    if count and not 0 <= array.min() <= array.max() < size:
        wrong = array[(array < 0) | (array >= size)][0]
        raise InvalidInput(f"row {wrong} does not exist: rows are 0 to {size - 1}")
    return np.ascontiguousarray(array, dtype=np.int64)


def checked_updates(
    rows: npt.ArrayLike, points: npt.ArrayLike, size: int, dimensions: Dimensions, signs: Floats
) -> tuple[Ints, Floats]:
    """Row numbers (n,) and the inward points (n, d) that they get; `signs` are those of the dimensions. O(nd).

    A snapshot takes a few microseconds, so plain arrays are checked and normalised in one pass. Whatever that pass
    does not take, or finds wrong, goes the long way, which knows what to say about it.
    """
    if _plain(rows, np.int64, 1) and _plain(points, np.float64, 2) and points.shape == (rows.size, signs.size):
        values: Floats = np.empty(points.shape)
        if admit(rows, points, signs, size, values):
            return rows, values
    values = dimensions.inward(points)
    return checked_rows(rows, size, len(values)), values


def _plain(array: npt.ArrayLike, dtype: npt.DTypeLike, ndim: int) -> TypeGuard[npt.NDArray[Any]]:
    return isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == ndim and array.flags.carray
