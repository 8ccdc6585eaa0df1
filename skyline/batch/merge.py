"""Skylines in parts: what Spark's partitions find each by itself, put together.

A point that belongs to the skyband of everything belongs to the skyband of every part that holds it, and one that k
points of some part dominate, k points of that part's skyband dominate. So the skyband of all parts is the skyband of
their skybands, in any order and any grouping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from skyline.batch.arrays import Points
from skyline.batch.settle import settle
from skyline.batch.skyband import skyband_of
from skyline.batch.strong import survivors
from skyline.batch.workers import Workers
from skyline.errors import InvalidInput
from skyline.view import Dimensions, Directions, Floats, Ints, numbers, positive, sequence


def merge_skylines(
    parts: Sequence[npt.ArrayLike], directions: Directions = None, k: int = 1, *, threads: int | None = None
) -> list[Ints]:
    """For each part, its rows that belong to the skyline (k-skyband) of all parts together, ascending.

    parts: (n, d) arrays of one d, each a skyline (k-skyband) of its own or not; those without rows may be of any shape.

    >>> merge_skylines([[[1, 4], [2, 2]], [[1, 5], [3, 1]]])
    [array([0, 1]), array([1])]
    """
    positive("k", k)
    arrays = [numbers(part) for part in parts]
    filled = [array for array in arrays if array.size]
    if len({array.shape[1:] for array in filled}) > 1:
        raise InvalidInput(f"parts must have the same dimensions, got shapes {[array.shape for array in filled]}")
    rows = skyband_of(np.concatenate(filled), k, directions, threads=threads) if filled else np.empty(0, np.int64)
    merged = []
    start = 0
    for array in arrays:
        stop = start + (len(array) if array.size else 0)
        low, high = np.searchsorted(rows, [start, stop])
        merged.append(rows[low:high] - start)
        start = stop
    return merged


class SkylineMerge:
    """The skyline (k-skyband) of batches that come one after another, exact after each.

    >>> merge = SkylineMerge(["min", "max"])
    >>> merge.add([[80, 4.1], [99, 4.0]])
    array([0])
    >>> merge.add([[70, 4.5], [95, 4.8]])
    array([0, 1])
    >>> merge.ids
    array([2, 3])
    """

    def __init__(
        self, directions: Sequence[str] | Mapping[str, str], k: int = 1, *, threads: int | None = None
    ) -> None:
        self.k = positive("k", k)
        self._dimensions = Dimensions.unnamed(directions)
        self._members = np.empty((0, len(self._dimensions)))
        self._ids = np.empty(0, np.int64)
        self._threads = Workers(threads).threads
        self._seen = 0

    def __len__(self) -> int:
        """Members so far."""
        return len(self._ids)

    @property
    def ids(self) -> Ints:
        """Ids of the members, in the order in which they came."""
        return self._ids.copy()

    @property
    def points(self) -> Floats:
        """The members (m, d), as given, in the order of `ids`."""
        return self._dimensions.outward(self._members)

    def add(self, points: npt.ArrayLike, ids: npt.ArrayLike | None = None) -> Ints:
        """Takes in a batch (n, d). -> its rows that are members now, ascending; a later batch may end that.

        ids (n,) int64 name the rows in `ids`; by default rows are numbered in the order in which they come. A batch
        that is refused leaves everything as it was.
        """
        given = Points.of(points, self._dimensions.directions)
        names = self._names(ids, len(given))
        with Workers(self._threads) as workers:
            rows = survivors(given, self.k, workers, known=self._members)
            pooled = np.concatenate([self._members, given.normalised(rows)])
            left = settle(pooled, self.k, workers)
        cut = int(np.searchsorted(left, len(self._members)))
        rows = rows[left[cut:] - len(self._members)]
        self._ids = np.concatenate([self._ids[left[:cut]], names[rows]])
        self._members = pooled[left]
        self._seen += len(given)
        return rows

    def _names(self, ids: npt.ArrayLike | None, count: int) -> Ints:
        if ids is None:
            return np.arange(self._seen, self._seen + count)
        names = sequence("ids", ids)
        if names.shape != (count,) or (count and (names.dtype.kind not in "iu" or int(names.max()) >= 2**63)):
            raise InvalidInput(f"ids must be {count} integers, one per row, got {names.dtype} of shape {names.shape}")
        return names.astype(np.int64)
