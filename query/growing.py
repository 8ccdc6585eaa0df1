"""Columns that grow at the end and are cut at the beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class Growing:
    """Named columns of one length. Growth is O(1) amortised per row; `[name]` gives a view, valid until it grows."""

    def __init__(self, kinds: Mapping[str, Any]) -> None:
        self._columns: dict[str, npt.NDArray[Any]] = {name: np.zeros(0, kind) for name, kind in kinds.items()}
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._columns[name][: self._length]

    def extend(self, **columns: Sequence[int]) -> None:
        """Appends rows: one sequence per column, all of one length."""
        end = self._length + len(next(iter(columns.values())))
        for name, values in columns.items():
            column = self._columns[name]
            if end > len(column):
                column = np.concatenate([column, np.zeros(end + end // 2 - len(column), column.dtype)])
                self._columns[name] = column
            column[self._length : end] = values
        self._length = end

    def drop(self, count: int) -> None:
        """Forgets the first `count` rows. O(rows that are left)."""
        self._columns = {name: column[count : self._length].copy() for name, column in self._columns.items()}
        self._length -= count
