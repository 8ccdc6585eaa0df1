"""Strong points: a handful that dominate most of the others, so that one cheap pass is rid of those."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from skyline.batch.arrays import Points
from skyline.batch.buckets import Bucketed
from skyline.batch.loops import quick_skyband
from skyline.batch.strong_kernels import choose
from skyline.batch.workers import Workers, ranges
from skyline.view import Directions, Floats, Ints, positive

SAMPLE: Final = 1024
"""Rows by which strength is judged: a point's share of them is known to about 1.5 %."""

COUNT: Final = 16
"""Strong points at most. Each costs about half a nanosecond per row; measured on 1M rows of 3 to 8 dimensions, more
spare less in later steps than they cost here."""

_CONTENDERS: Final = 64
"""Points, at most, that strong ones are chosen from; there are no more strong points than this, whatever is asked."""

_WORTHWHILE: Final = 0.005
"""Share of the sample that another strong point must dominate first to be worth its while."""

_WORTH_A_SAMPLE: Final = 6 * SAMPLE
"""Rows below which choosing strong points takes longer than they save: measured at 3,000 to 16,000 rows, it takes
twice as long at 5,000, and half as long at 12,000."""

_TRIAL: Final = 16
"""The first 1/16 of the rows is scanned with strong points of the sample; its survivors give stronger ones."""

_FEW_LEFT: Final = 1 / 64
"""Share that is left of the first rows if the strong points of the sample will do."""

_STRETCH: Final = 131072
"""Rows that one task scans."""


def strong_points(
    points: npt.ArrayLike,
    count: int = COUNT,
    directions: Directions = None,
    *,
    k: int = 1,
    threads: int | None = None,
) -> Floats:
    """Up to `count` rows of `points`, k or more of which dominate as much of a sample as can be. -> (s, d), as given.

    For `filter_dominated`: chosen once from a sample of a large dataset and sent to all who hold a part of it. With k
    above 1 there are up to 2 (k - 1) more, and none if k is too large for them to be of use.
    """
    given, count, k = Points.of(points, directions), positive("count", count), positive("k", k)
    with Workers(threads) as workers:
        rows = survivors(given, k, workers)
        sample = given.normalised(np.arange(0, len(given), max(1, len(given) // SAMPLE)))
        return given.dimensions.outward(_strongest(given.normalised(rows), sample, k, min(count, _CONTENDERS), workers))


def filter_dominated(points: npt.ArrayLike, strong: npt.ArrayLike, directions: Directions = None) -> Ints:
    """Rows of `points` (n, d) that no row of `strong` (s, d) dominates, ascending. O(nds) at most, one core.

    A row that equals a strong point stays. The skyline of what stays, together with `strong`, is the skyline of all.

    >>> filter_dominated([[1.0, 5.0], [3.0, 3.0], [2.0, 2.0]], strong=[[2.0, 2.0]])
    array([0, 2])
    """
    given = Points.of(points, directions)
    return given.scan(given.dimensions.inward(strong), 1, slice(0, len(given)))


def survivors(points: Points, k: int, workers: Workers, known: Floats | None = None) -> Ints:
    """Rows that fewer than k of some strong points dominate, ascending. A few nanoseconds per row.

    The strong points are taken from these points and, if given, from the `known` ones (m, d), which are normalised.
    """
    n = len(points)
    if n < _WORTH_A_SAMPLE:
        return points.scan(np.empty((0, len(points.dimensions))), k, slice(0, n))
    trial, step = slice(0, n // _TRIAL), n // SAMPLE
    sample = points.normalised(np.arange(0, n, step))
    contenders = sample if known is None else np.concatenate([sample, known])
    strong = _strongest(contenders, sample, k, COUNT, workers)
    first = points.scan(strong, k, trial)
    if len(first) > _FEW_LEFT * trial.stop:
        # a row that was sampled contends already; twice, it would count as two dominators
        contenders = np.concatenate([contenders, points.normalised(first[first % step != 0])])
        strong = _strongest(contenders, sample, k, COUNT, workers)
    stretches = ranges(trial.stop, n, _STRETCH)
    return np.concatenate([first, *workers.map(lambda part: points.scan(strong, k, part), stretches)])


def _strongest(contenders: Floats, sample: Floats, k: int, count: int, workers: Workers) -> Floats:
    """Contenders of which k or more dominate as much of the sample as can be, the strongest first. -> (s, d)

    About `count` of them, more if k is more than 1; none if k is too large for them to be of use.
    """
    if 2 * (k - 1) + count > _CONTENDERS:
        return contenders[:0]
    if (quick := quick_skyband(contenders, k)) is not None:
        contenders = contenders[quick]
    if len(contenders) > _CONTENDERS:
        sums = Bucketed(contenders, workers).sums
        contenders = contenders[np.argpartition(sums, _CONTENDERS)[:_CONTENDERS]]
    chosen = np.empty(2 * (k - 1) + count, np.int64)
    return contenders[chosen[: choose(contenders, sample, k, _WORTHWHILE * len(sample), chosen)]]
