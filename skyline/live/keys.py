"""Keys and the slots that stand for them.

A slot is a small integer that belongs to one key until it is released. Keys live in flat arrays, not in Python
objects: a table of a million string keys takes about 60 bytes per key, is dumped in milliseconds and loaded as fast.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyline.errors import InvalidInput
from skyline.live import keys_kernels as kernels
from skyline.live.changes import Key
from skyline.live.objects import grown
from skyline.view import Bools, Ints

Bytes = npt.NDArray[np.uint8]
MAX_SLOTS: Final = 2**31 - 2
"""Slots are int32 inside the engines."""


class Order(NamedTuple):
    """What a kernel needs to compare the keys of two slots. Integer keys: only `ints`; others: all but `ints`."""

    ints: Ints
    arena: Bytes
    starts: Ints
    lengths: npt.NDArray[np.int32]


class Rows(NamedTuple):
    """The keys of a batch: integers in `ints`, or bytes in `data`, the i-th before ends[i]."""

    ints: Ints
    data: Bytes
    ends: Ints


class Keys(ABC):
    """A table of keys of one kind. `int` keys are int64; `str` and `bytes` are bytes (UTF-8) here."""

    kind: str

    def __init__(self) -> None:
        # secret, so that nobody can choose keys that collide; it never shows in any result
        self._seed = np.random.SeedSequence().generate_state(1, np.uint64)[0]
        self._table: Ints = np.full(64, -1, np.int64)
        self._counts: Ints = np.zeros(2, np.int64)
        self._free: Ints = np.zeros(64, np.int64)

    @property
    def slots(self) -> int:
        """All slots in use lie below this number."""
        return int(self._counts[0])

    def __len__(self) -> int:
        return int(self._counts[0] - self._counts[1])

    def find(self, rows: Rows) -> Ints:
        """Slot of each key, -1 where unknown. O(1) each."""
        out = np.empty(self._count(rows), np.int64)
        self._find(rows, out)
        return out

    def assign(self, rows: Rows, wanted: Bools) -> tuple[Ints, Ints]:
        """Slot of each key; unknown keys of `wanted` rows get one. Gives also the slots that are new. O(1) each."""
        out = np.empty(self._count(rows), np.int64)
        unknown = self._find(rows, out)
        if not unknown:
            return out, out[:0]
        self._reserve(rows, unknown)
        new = np.empty(unknown, np.int64)
        return out, new[: self._add(rows, wanted, out, new)]

    def release(self, slots: Ints) -> None:
        """Forgets the keys of these distinct slots. The next `assign` may give the slots to other keys."""
        if not len(slots):
            return
        self._erase(slots)
        count = int(self._counts[1])
        if count + len(slots) > len(self._free):
            self._free = grown(self._free, 2 * (count + len(slots)))
        self._free[count : count + len(slots)] = slots
        self._counts[1] += len(slots)

    def _reserve(self, rows: Rows, unknown: int) -> None:
        """Room for so many more keys: the table stays at most half full."""
        needed = self.slots + max(0, unknown - int(self._counts[1]))
        if needed > MAX_SLOTS:
            raise InvalidInput(f"at most {MAX_SLOTS} objects fit one skyline")
        size = len(self._table)
        while (len(self) + unknown) * 2 > size:
            size *= 2
        if size > len(self._table):
            larger = np.full(size, -1, np.int64)
            kernels.rehash(self._table, larger)
            self._table = larger
        self._reserve_slots(rows, needed)

    def dump(self) -> dict[str, np.ndarray | int | str]:
        """Plain arrays by slot. O(slots)."""
        free = self._free[: int(self._counts[1])].copy()
        return {"kind": self.kind, "slots": self.slots, "free_slots": free, **self._dump_keys()}

    def load(self, state: dict[str, Any]) -> None:
        """Fills an empty table from a dump. O(slots)."""
        self._free = np.array(state["free_slots"], np.int64)
        self._counts[:] = int(state["slots"]), len(self._free)
        self._load_keys(state)
        self._table = np.full(1 << max(6, (2 * len(self)).bit_length()), -1, np.int64)
        self._enter(self.taken())

    def taken(self) -> Ints:
        """The slots that stand for a key, ascending. O(slots)."""
        taken = np.ones(self.slots, np.bool_)
        taken[self._free[: int(self._counts[1])]] = False
        return np.flatnonzero(taken)

    def _check(self) -> None:
        """Asserts that every key is found at its slot, and that the table holds nothing else."""
        taken = self.taken()
        assert len(taken) == len(self) == int((self._table >= 0).sum())
        assert 2 * len(self) <= len(self._table)
        if len(taken):
            assert (self.find(self.rows(self.take(taken))) == taken).all()

    @abstractmethod
    def rows(self, keys: Any) -> Rows:
        """The keys of a batch, checked. O(total length)."""

    @abstractmethod
    def take(self, slots: Sequence[int] | Ints) -> list[Key]:
        """Keys of these slots, as Python objects."""

    @abstractmethod
    def order(self) -> Order: ...

    @abstractmethod
    def _count(self, rows: Rows) -> int: ...

    @abstractmethod
    def _find(self, rows: Rows, out: Ints) -> int: ...

    @abstractmethod
    def _add(self, rows: Rows, wanted: Bools, out: Ints, new: Ints) -> int: ...

    @abstractmethod
    def _erase(self, slots: Ints) -> None: ...

    @abstractmethod
    def _enter(self, slots: Ints) -> None: ...

    @abstractmethod
    def _reserve_slots(self, rows: Rows, slots: int) -> None: ...

    @abstractmethod
    def _dump_keys(self) -> dict[str, np.ndarray]: ...

    @abstractmethod
    def _load_keys(self, state: dict[str, Any]) -> None: ...
