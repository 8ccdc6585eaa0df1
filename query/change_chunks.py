"""A run of consecutive changes as they were published, compressed once it is full."""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import Final

_UNPACKED: Final = 4
"""Chunks that are held unpacked: readers who come back together ask for the same ones."""


class Chunk:
    """Changes first, first + 1, ... `base`: the change that made each member before them, or None."""

    __slots__ = ("_packed", "_values", "base", "count", "first")

    def __init__(self, first: int, base: dict[str, bytes] | None) -> None:
        self.first, self.base = first, base
        self.count = 0
        self._values: list[bytes] = []
        self._packed: bytes | None = None

    def append(self, value: bytes) -> None:
        self._values.append(value)
        self.count += 1

    def seal(self) -> None:
        """Compresses: JSON has no bare line ends, so lines keep the changes apart."""
        self._packed = zlib.compress(b"\n".join(self._values), 1)
        self._values = []

    def values(self) -> list[bytes]:
        """The changes, not to be changed. O(chunk)."""
        values = self._values  # read before `_packed`: whoever seals meanwhile leaves this list as it is
        return values[:] if self._packed is None else _unpacked(self._packed)


@lru_cache(_UNPACKED)
def _unpacked(packed: bytes) -> list[bytes]:
    return zlib.decompress(packed).split(b"\n")
