"""One skyline per group (SQL's DIFF)."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from skyline.batch.arrays import Points
from skyline.batch.grouped_kernels import group_rows
from skyline.batch.loops import quick_skybands
from skyline.batch.skyband import skyband_rows
from skyline.batch.workers import Workers
from skyline.errors import InvalidInput
from skyline.view import Bools, Directions, Floats, Ints, positive, sequence

_SMALL: Final = 4096
"""Rows in a group up to which nested loops are tried; beyond, one cheap pass spares them most rows."""

_STRETCH: Final = 65536
"""Rows, about, in the groups that one task takes."""


def grouped_skyline_of(
    points: npt.ArrayLike,
    labels: npt.ArrayLike,
    directions: Directions = None,
    k: int = 1,
    *,
    threads: int | None = None,
) -> Ints:
    """Rows of `points` (n, d) that no row (fewer than k rows) of the same label dominates, ascending.

    labels (n,): integers, strings or whatever else can be sorted. A million groups cost little more than one.

    >>> grouped_skyline_of([[1, 1], [2, 2], [3, 3]], ["oslo", "rome", "rome"])
    array([0, 1])
    """
    given, k = Points.of(points, directions), positive("k", k)
    codes = _codes(labels, len(given))
    normalised = given.normalised(given.scan(np.empty((0, len(given.dimensions))), k, slice(0, len(given))))
    starts = np.zeros(int(codes.max(initial=-1)) + 3, np.int64)
    rows = np.empty(len(codes), np.int64)
    group_rows(codes, starts, rows)
    with Workers(threads) as workers:
        member = _skybands(normalised[rows], starts[:-1], k, workers)
    return np.sort(rows[member])


def _codes(labels: npt.ArrayLike, count: int) -> Ints:
    """Small integers that tell the labels apart."""
    array = sequence("labels", labels)
    if array.shape != (count,) and (array.size or count):
        raise InvalidInput(f"labels must have shape ({count},), one per row, got {array.shape}")
    if array.dtype.kind in "iu" and count:
        # 127 - -128 does not fit into an int8
        wide = array.astype(np.int64 if array.dtype.kind == "i" else np.uint64)
        low, high = wide.min(), wide.max()
        if int(high) - int(low) <= 2 * count:
            offsets: Ints = (wide - low).astype(np.int64)
            return offsets
    try:
        codes: Ints = np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        raise InvalidInput(f"labels must be of one kind that can be sorted: {error}") from None
    return codes


def _skybands(points: Floats, starts: Ints, k: int, workers: Workers) -> Bools:
    """Which rows fewer than k rows of their own group dominate; group g is the rows starts[g] to starts[g + 1]."""
    member = np.zeros(len(points), np.bool_)

    def small(part: slice) -> Ints:
        """Resolves the small ones of these groups. -> the others"""
        first: int = part.start
        return first + quick_skybands(points, starts[first : part.stop + 1], k, _SMALL, member)

    for large in np.concatenate([np.empty(0, np.int64), *workers.map(small, _stretches(starts))]):
        low, high = starts[large], starts[large + 1]
        member[low + skyband_rows(Points.of(points[low:high], None), k, workers)] = True
    return member


def _stretches(starts: Ints) -> list[slice]:
    """Groups in stretches of about as many rows each."""
    tasks = np.arange(0, starts[-1], _STRETCH)
    cuts = [*np.unique(np.searchsorted(starts, tasks)), len(starts) - 1]
    return [slice(first, stop) for first, stop in pairwise(cuts) if first < stop]
