"""The columns of a batch as callers give them, checked and made into arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from skyline.errors import InvalidInput
from skyline.live.objects import Scalar
from skyline.view import Bools, Ints

_CACHED_ROWS = 65_536


class Constants:
    """Columns of one value each, kept between batches: small batches are not to pay for making them."""

    def __init__(self) -> None:
        self._columns: dict[tuple[type, int], npt.NDArray[Any]] = {}

    def column(self, value: int, dtype: type[Scalar], rows: int) -> npt.NDArray[Scalar]:
        """An array that nobody may write to. O(1), mostly."""
        if rows > _CACHED_ROWS:
            return np.full(rows, value, dtype)
        column = self._columns.get((dtype, value))
        if column is None or len(column) < rows:
            column = self._columns[dtype, value] = np.full(max(rows, 1024), value, dtype)
        return column[:rows]


def listed(name: str, given: Any) -> list[Any] | tuple[Any, ...] | npt.NDArray[Any]:
    """A column of keys or labels as a list, a tuple or an array of one dimension."""
    if isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1):
        return given
    if isinstance(given, np.ndarray | str | bytes) or not isinstance(given, Iterable):
        raise InvalidInput(f"{name} must be a sequence, one of them per row, got {given!r}")
    return list(given)


def times(name: str, given: Any, rows: int) -> Ints:
    """An int64 column of event times, from an array or one integer for all rows."""
    array = np.asarray(given)
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidInput(f"{name} must be integers (milliseconds), got {array.dtype}")
    if array.ndim == 0:
        return np.full(rows, _int64(name, given), np.int64)
    if array.shape != (rows,):
        raise InvalidInput(f"{name} must have one value per key, {rows}, got shape {array.shape}")
    if array.dtype == np.uint64 and array.size:
        _int64(name, array.max())
    return np.ascontiguousarray(array, np.int64)


def flags(name: str, given: Any, rows: int) -> Bools:
    """A bool column."""
    array = np.asarray(given)
    if array.shape != (rows,) or (array.dtype != np.bool_ and array.size):
        raise InvalidInput(f"{name} must be {rows} booleans, one per key, got {array.dtype} of shape {array.shape}")
    return np.ascontiguousarray(array, np.bool_)


def instant(name: str, given: Any) -> int:
    """One event time."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise InvalidInput(f"{name} must be an integer (milliseconds), got {given!r}")
    return _int64(name, given)


def check_order(at: Ints, clock: int) -> None:
    """Refuses time that runs backwards, within the batch or before the clock."""
    if len(at) and at[0] < clock:
        raise InvalidInput(f"time runs backwards: row 0 is at {at[0]}, but the clock shows {clock}")
    backwards = np.flatnonzero(at[1:] < at[:-1])
    if len(backwards):
        row = int(backwards[0]) + 1
        raise InvalidInput(f"time runs backwards: row {row} is at {at[row]}, the row before at {at[row - 1]}")


def _int64(name: str, value: Any) -> int:
    limits = np.iinfo(np.int64)
    if not limits.min <= int(value) <= limits.max:
        raise InvalidInput(f"{name} must fit 64 bits, got {value}")
    return int(value)
