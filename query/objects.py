"""The objects of a view as immutable records, by key and by id; those replaced stay until no answer can need them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable

import numpy as np

from skyline.view import Floats

Record = tuple[str, bytes, int, bytes, int, int]
"""key, point in given units (float64 bytes), label of the group, group and carried fields (JSON to splice after the
point), valid_from, valid_until. A bare tuple of atoms: a million of them do not burden the garbage collector."""


class Objects:
    """Records by id. An id is the offset of the update that wrote the record: no two records ever share one.

    A search runs on a frozen index while updates go on; it names ids, and finds their records here for `keep` seconds
    after they were replaced. Writers and readers hold the view's lock, but for `records`, which needs none.
    """

    def __init__(self, keep: float) -> None:
        self._keep = keep
        self._by_id: dict[int, Record] = {}
        self._ids: dict[str, int] = {}
        self._replaced: deque[tuple[float, list[int]]] = deque()

    def __len__(self) -> int:
        """Objects that are there, live or waiting."""
        return len(self._ids)

    def get(self, key: str) -> Record | None:
        return self._by_id.get(self._ids.get(key, -1))

    def records(self, ids: Iterable[int]) -> list[Record]:
        """Records of these ids, replaced since or not."""
        return list(map(self._by_id.__getitem__, ids))

    def all(self) -> list[tuple[int, Record]]:
        """Everything that is there, with its id. O(n)."""
        return [(number, self._by_id[number]) for number in self._ids.values()]

    def replace(self, gone: list[int], removed: Iterable[str], ids: list[int], records: list[Record]) -> None:
        """Puts `records` under `ids`; ids `gone` are replaced or removed, keys `removed` are no longer there."""
        for key in removed:
            del self._ids[key]
        self._by_id.update(zip(ids, records, strict=True))
        self._ids.update(zip([record[0] for record in records], ids, strict=True))
        now = time.monotonic()
        if gone:
            self._replaced.append((now, gone))
        while self._replaced and self._replaced[0][0] < now - self._keep:
            for number in self._replaced.popleft()[1]:
                del self._by_id[number]


def point_of(record: Record) -> Floats:
    """The record's point, in given units."""
    return np.frombuffer(record[1])


def points_of(records: list[Record], dimensions: int) -> Floats:
    """Points (m, d) of many records, in given units."""
    return np.frombuffer(b"".join([record[1] for record in records])).reshape(-1, dimensions)
