"""Integer keys, in one int64 array by slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from skyline.errors import InvalidInput
from skyline.live import keys_kernels as kernels
from skyline.live.changes import Key
from skyline.live.keys import Keys, Order, Rows
from skyline.live.objects import grown
from skyline.view import Bools, Ints

_NO_BYTES: Final = np.zeros(0, np.uint8)
_NO_INTS: Final = np.zeros(0, np.int64)
_NO_LENGTHS: Final = np.zeros(0, np.int32)
_TRUTHS: Final = {bool, np.bool_}


class IntKeys(Keys):
    kind = "int"

    def __init__(self) -> None:
        super().__init__()
        self._ints: Ints = np.zeros(64, np.int64)

    def rows(self, keys: Any) -> Rows:
        array = np.asarray(keys)
        if array.dtype == object:
            array = np.asarray(array.tolist())
        if array.ndim != 1:
            raise InvalidInput(f"keys must be a sequence, got an array of shape {array.shape}")
        if not array.size:
            return Rows(_NO_INTS, _NO_BYTES, _NO_INTS)
        if not isinstance(keys, np.ndarray) and not _TRUTHS.isdisjoint(map(type, keys)):  # numpy makes 1 of True
            raise InvalidInput("keys must be 64-bit integers like the first ones, got a truth value")
        if array.dtype.kind not in "iu" or (array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max):
            raise InvalidInput(f"keys must be 64-bit integers like the first ones, got {array.dtype} {array[:3]}")
        return Rows(np.ascontiguousarray(array, np.int64), _NO_BYTES, _NO_INTS)

    def take(self, slots: Sequence[int] | Ints) -> list[Key]:
        taken: list[Key] = self._ints[slots].tolist()
        return taken

    def order(self) -> Order:
        return Order(self._ints, _NO_BYTES, _NO_INTS, _NO_LENGTHS)

    def _count(self, rows: Rows) -> int:
        return len(rows.ints)

    def _find(self, rows: Rows, out: Ints) -> int:
        return int(kernels.find_ints(self._table, self._ints, self._seed, rows.ints, out))

    def _add(self, rows: Rows, wanted: Bools, out: Ints, new: Ints) -> int:
        state = self._table, self._ints, self._seed
        return int(kernels.add_ints(*state, rows.ints, wanted, self._free, self._counts, out, new))

    def _enter(self, slots: Ints) -> None:
        kernels.enter_ints(self._table, self._ints, self._seed, slots)

    def _erase(self, slots: Ints) -> None:
        kernels.erase_ints(self._table, self._ints, self._seed, slots)

    def _reserve_slots(self, rows: Rows, slots: int) -> None:  # noqa: ARG002
        if slots > len(self._ints):
            self._ints = grown(self._ints, max(slots, len(self._ints) * 3 // 2))

    def _dump_keys(self) -> dict[str, np.ndarray]:
        return {"keys": self._ints[: self.slots].copy()}

    def _load_keys(self, state: dict[str, Any]) -> None:
        self._ints = np.array(state["keys"], np.int64)
