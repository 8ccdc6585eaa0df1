"""Skyline and skyband of an array.

1. One cheap pass against a few strong points leaves the survivors (strong.py). 2. What they leave is settled exactly
(settle.py).
"""

from __future__ import annotations

import numpy.typing as npt

from skyline.batch.arrays import Points
from skyline.batch.settle import settle
from skyline.batch.strong import survivors
from skyline.batch.workers import Workers
from skyline.view import Directions, Ints, positive


def skyline_of(points: npt.ArrayLike, directions: Directions = None, *, threads: int | None = None) -> Ints:
    """Rows of `points` (n, d) that no row dominates, ascending. Equal rows are members together.

    directions: "min" or "max" per dimension, in a list, or in a mapping that also names them; default all "min".
    threads: at most so many, default one per core; the result does not depend on it. No rows give no rows; NaN, and
    more than 16 dimensions, raise InvalidInput.

    >>> skyline_of([[80, 4.1], [95, 4.8], [99, 4.0]], ["min", "max"])
    array([0, 1])
    """
    return skyband_of(points, 1, directions, threads=threads)


def skyband_of(
    points: npt.ArrayLike, k: int, directions: Directions = None, *, threads: int | None = None
) -> Ints:
    """Rows of `points` (n, d) that fewer than k rows dominate, ascending. k = 1 is the skyline.

    Every row counts as a dominator, equal ones too; equal rows do not dominate each other. The rest is as for
    `skyline_of`.

    >>> skyband_of([[1, 1], [2, 2], [3, 3]], k=2)
    array([0, 1])
    """
    given, k = Points.of(points, directions), positive("k", k)
    with Workers(threads) as workers:
        return skyband_rows(given, k, workers)


def skyband_rows(given: Points, k: int, workers: Workers) -> Ints:
    """`skyband_of` for points that have been checked."""
    rows = survivors(given, k, workers)
    return rows[settle(given.normalised(rows), k, workers)]
