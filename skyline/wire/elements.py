"""What stands behind the positions of a window: key, point, offset and carried fields of each element."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyline.errors import InvalidInput
from skyline.view import Floats, Ints

_LEAST: Final = 1024


def element_key(key: str, offset: int) -> str:
    """What an element is called: `key@offset`, and `offset` if its update had no key.

    A key may come again while the element that had it before is still in the window, and both may be members: so the
    offset of its update, which no other element has, is part of every name.
    """
    return f"{key}@{offset}" if key else str(offset)


class Element(NamedTuple):
    """One element of a window, by name. `extras` is the JSON of its carried fields, as in an `Upsert`."""

    key: str
    point: tuple[float, ...]
    extras: bytes
    position: int
    offset: int


class Elements:
    """Elements in order of position. O(1) amortised to add, O(log m) to look up among m."""

    def __init__(self, dims: int) -> None:
        self._count = 0
        self._positions: Ints = np.empty(_LEAST, np.int64)
        self._offsets: Ints = np.empty(_LEAST, np.int64)
        self._points: Floats = np.empty((_LEAST, dims))
        self._keys: list[str] = []
        self._extras: list[bytes] = []

    def __len__(self) -> int:
        return self._count

    def add(self, first: int, offsets: Ints, points: Floats, keys: Sequence[str], extras: Sequence[bytes]) -> None:
        """Adds elements whose positions count on from `first`; points as given."""
        past = self._count + len(offsets)
        if past > len(self._positions):
            self._grow(past)
        new = slice(self._count, past)
        self._positions[new] = np.arange(first, first + len(offsets))
        self._offsets[new], self._points[new] = offsets, points
        self._keys += keys
        self._extras += extras
        self._count = past

    def of(self, positions: npt.ArrayLike) -> list[Element]:
        """The elements at these positions, all of which must be there."""
        wanted = np.asarray(positions, dtype=np.int64)
        held = self._positions[: self._count]
        places = np.searchsorted(held, wanted)
        assert (held[np.minimum(places, self._count - 1)] == wanted).all()
        points, offsets = self._points[places].tolist(), self._offsets[places].tolist()
        return [
            Element(element_key(self._keys[i], offset), tuple(point), self._extras[i], position, offset)
            for i, position, point, offset in zip(places.tolist(), wanted.tolist(), points, offsets, strict=True)
        ]

    def keep(self, positions: Ints) -> None:
        """Forgets all others. O(m)."""
        kept = np.isin(self._positions[: self._count], positions, assume_unique=True)
        self._count = int(kept.sum())
        self._positions[: self._count] = self._positions[: len(kept)][kept]
        self._offsets[: self._count] = self._offsets[: len(kept)][kept]
        self._points[: self._count] = self._points[: len(kept)][kept]
        self._keys = list(compress(self._keys, kept))
        self._extras = list(compress(self._extras, kept))

    def dump(self) -> dict[str, Any]:
        """Everything as plain arrays and lists of bytes, for `load`."""
        return {
            "element_positions": self._positions[: self._count].copy(),
            "element_offsets": self._offsets[: self._count].copy(),
            "element_points": self._points[: self._count].copy(),
            "element_keys": [key.encode() for key in self._keys],
            "element_extras": list(self._extras),
        }

    @classmethod
    def load(cls, dims: int, state: dict[str, Any]) -> Elements:
        loaded = cls(dims)
        columns = ("positions", "offsets", "points", "keys", "extras")
        positions, offsets, points, keys, extras = (state[f"element_{name}"] for name in columns)
        if not len(positions) == len(offsets) == len(points) == len(keys) == len(extras):
            raise InvalidInput("the state of a window contradicts itself: its elements are not all there")
        loaded.add(0, offsets, points, [key.decode() for key in keys], extras)
        loaded._positions[: loaded._count] = positions
        return loaded

    def _grow(self, least: int) -> None:
        more = max(least, 2 * len(self._positions)) - len(self._positions)
        self._positions = np.concatenate([self._positions, np.empty(more, np.int64)])
        self._offsets = np.concatenate([self._offsets, np.empty(more, np.int64)])
        self._points = np.concatenate([self._points, np.empty((more, self._points.shape[1]))])
