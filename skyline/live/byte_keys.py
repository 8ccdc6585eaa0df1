"""Text and bytes keys, one after the other in an arena of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from skyline.errors import InvalidInput
from skyline.live import keys_kernels as kernels
from skyline.live.changes import Key
from skyline.live.keys import Bytes, Keys, Order, Rows
from skyline.live.objects import grown
from skyline.view import Bools, Ints

_NO_INTS: Final = np.zeros(0, np.int64)


class ByteKeys(Keys):
    """Keys as bytes; `kind` "str" takes and gives text (UTF-8, whose byte order is the order of code points)."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self._arena: Bytes = np.zeros(1024, np.uint8)
        self._used = 0
        self._starts: Ints = np.zeros(64, np.int64)
        self._lengths = np.zeros(64, np.int32)

    def rows(self, keys: Any) -> Rows:
        data, lengths = self._joined(keys.tolist() if isinstance(keys, np.ndarray) else keys)
        return Rows(_NO_INTS, np.frombuffer(data or b"\0", np.uint8), np.cumsum(lengths))

    def _joined(self, keys: Sequence[Any]) -> tuple[bytes, Ints]:
        """All keys in one piece, and their lengths. Joining is several times faster than handling each."""
        try:
            if self.kind == "bytes":
                return _joined_bytes(keys)
            text = "".join(keys)
            if text.isascii():
                return text.encode(), _lengths(keys)
            encoded = [key.encode() for key in keys]
        except TypeError:
            kind = str if self.kind == "str" else bytes
            odd = next(key for key in keys if not isinstance(key, kind))
            raise InvalidInput(f"keys must be {self.kind} like the first ones, got {odd!r}") from None
        except UnicodeEncodeError as error:
            raise InvalidInput(f"a key is not valid text: {error}") from None
        return b"".join(encoded), _lengths(encoded)

    def take(self, slots: Sequence[int] | Ints) -> list[Key]:
        chosen = np.asarray(slots, np.int64)
        data = np.empty(int(self._lengths[chosen].sum()), np.uint8)
        ends = np.empty(len(chosen), np.int64)
        kernels.gather(self._arena, self._starts, self._lengths, chosen, data, ends)
        flat, bounds = data.tobytes(), [0, *ends.tolist()]
        pieces = [flat[begin:end] for begin, end in pairwise(bounds)]
        return [piece.decode() for piece in pieces] if self.kind == "str" else list(pieces)

    def order(self) -> Order:
        return Order(_NO_INTS, self._arena, self._starts, self._lengths)

    def _count(self, rows: Rows) -> int:
        return len(rows.ends)

    def _find(self, rows: Rows, out: Ints) -> int:
        state = self._table, self._arena, self._starts, self._lengths, self._seed
        return int(kernels.find_bytes(*state, rows.data, rows.ends, out))

    def _add(self, rows: Rows, wanted: Bools, out: Ints, new: Ints) -> int:
        state = self._table, self._arena, self._starts, self._lengths, self._used, self._seed
        added, self._used = kernels.add_bytes(*state, rows.data, rows.ends, wanted, self._free, self._counts, out, new)
        return int(added)

    def _enter(self, slots: Ints) -> None:
        kernels.enter_bytes(self._table, self._arena, self._starts, self._lengths, self._seed, slots)

    def _erase(self, slots: Ints) -> None:
        kernels.erase_bytes(self._table, self._arena, self._starts, self._lengths, self._seed, slots)

    def _reserve_slots(self, rows: Rows, slots: int) -> None:
        if slots > len(self._starts):
            room = max(slots, len(self._starts) * 3 // 2)
            self._starts, self._lengths = grown(self._starts, room), grown(self._lengths, room)
        if self._used + len(rows.data) > len(self._arena):
            self._compact()
        if self._used + len(rows.data) > len(self._arena) * 3 // 4:
            self._arena = grown(self._arena, (self._used + len(rows.data)) * 3 // 2)

    def _compact(self) -> None:
        """Drops the bytes of released keys. Amortised O(1) per byte, as a quarter is free afterwards."""
        taken = self.taken()
        arena = np.empty_like(self._arena)
        ends = np.empty(len(taken), np.int64)
        kernels.gather(self._arena, self._starts, self._lengths, taken, arena, ends)
        self._starts[taken] = ends - self._lengths[taken]
        self._arena, self._used = arena, int(ends[-1]) if len(ends) else 0

    def _dump_keys(self) -> dict[str, np.ndarray]:
        self._compact()
        return {
            "keys": self._arena[: self._used].copy(),
            "key_starts": self._starts[: self.slots].copy(),
            "key_lengths": self._lengths[: self.slots].copy(),
        }

    def _load_keys(self, state: dict[str, Any]) -> None:
        self._arena = np.array(state["keys"], np.uint8)
        self._used = len(self._arena)
        self._starts = np.array(state["key_starts"], np.int64)
        self._lengths = np.array(state["key_lengths"], np.int32)


def _joined_bytes(keys: Sequence[Any]) -> tuple[bytes, Ints]:
    data, lengths = b"".join(keys), _lengths(keys)
    if len(data) != lengths.sum():  # arrays of numbers, too, can be joined
        raise TypeError
    return data, lengths


def _lengths(keys: Sequence[Any]) -> Ints:
    return np.fromiter(map(len, keys), np.int64, len(keys))
