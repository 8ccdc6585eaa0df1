"""The skyband by nested loops, where they are quick."""

from __future__ import annotations

import numpy as np

from skyline.batch.loop_kernels import skybands
from skyline.view import Bools, Floats, Ints


def quick_skyband(points: Floats, k: int) -> Bools | None:
    """Which of the normalised points (n, d) fewer than k others dominate; None if that takes more than O(nd).

    Up to 128 points are always done. Of more, those are that a few points dominate soon: most of correlated data, of
    independent data in few dimensions.
    """
    member = np.zeros(len(points), np.bool_)
    unfinished = np.empty(1, np.int64)
    if skybands(points, np.array([0, len(points)]), k, len(points), member, unfinished):
        return None
    return member


def quick_skybands(points: Floats, starts: Ints, k: int, longest: int, member: Bools) -> Ints:
    """Sets in `member` (n,) which rows fewer than k rows of their own group dominate; group g is starts[g] to
    starts[g + 1]. -> groups that have more than `longest` rows or would take more than O(nd), left to the caller.
    """
    unfinished: Ints = np.empty(len(starts), np.int64)
    count: int = skybands(points, starts, k, longest, member, unfinished)
    return unfinished[:count]
