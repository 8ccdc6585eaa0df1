"""The exact part: the skyband of the points that the cheap pass could not rule out.

Points here are normalised: smaller is better, no -0.0, no NaN.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from skyline.batch.bitmap_kernels import BLOCK
from skyline.batch.buckets import Bucketed, blocks_for
from skyline.batch.dedupe_kernels import first_equals
from skyline.batch.loops import quick_skyband
from skyline.batch.sweep_kernels import sweep2, sweep3
from skyline.batch.workers import Workers
from skyline.view import Bools, Floats, Ints

_MOST_BLOCKS: Final = 16
"""Blocks that one round adds at most: their bitmaps fill a few megabytes."""

_MANY: Final = 8
"""Times as many points as the sieve has, above which a second look at them is made up for by how few it leaves."""


def settle(points: Floats, k: int, workers: Workers) -> Ints:
    """Rows that fewer than k others dominate, ascending. (n, d) -> (m,)"""
    if k >= len(points):
        return np.arange(len(points))
    if (quick := quick_skyband(points, k)) is not None:
        return np.flatnonzero(quick)
    sieve = BLOCK * min(1 + 4 * k // BLOCK, _MOST_BLOCKS)
    # in two dimensions the sweep's one sort takes less than the sieve, whatever that leaves: 2 to 20 times less
    if len(points) <= _MANY * sieve or (k == 1 and points.shape[1] <= 2):
        return np.flatnonzero(_skyband(points, k, workers))
    rows = _sieved(points, sieve, k, workers)
    return rows[_skyband(points[rows], k, workers)]


def _sieved(points: Floats, count: int, k: int, workers: Workers) -> Ints:
    """Rows that the `count` points with the lowest sums leave, ascending: few more than the skyband, as a rule."""
    bucketed = Bucketed(points, workers)
    lowest = np.argpartition(bucketed.sums, count)[:count]
    distinct, weights, _ = _distinct(points[lowest])
    blocks = bucketed.blocks(lowest[distinct], weights)
    return bucketed.sift(np.arange(len(points)), np.zeros(len(points), np.int64), blocks, k)


def _skyband(points: Floats, k: int, workers: Workers) -> Bools:
    """Which of the points fewer than k others dominate. Equal points are looked at once, and counted as many."""
    rows, weights, first = _distinct(points)
    distinct = points[rows] if len(rows) < len(points) else points
    member = np.empty(len(points), np.bool_)
    member[rows] = _sweep(distinct) if k == 1 and points.shape[1] <= 3 else _by_blocks(distinct, weights, k, workers)
    return member[first]


def _distinct(points: Floats) -> tuple[Ints, Ints, Ints]:
    """Rows of the distinct points, how often each occurs, and for every row the first one that equals it. O(nd)"""
    first = np.empty(len(points), np.int64)
    count = first_equals(points, first)
    if count == len(points):
        return first, np.ones(count, np.int64), first
    rows = np.flatnonzero(first == np.arange(len(points)))
    return rows, np.bincount(first, minlength=len(points))[rows], first


def _sweep(points: Floats) -> Bools:
    """Members among distinct points of one to three dimensions. O(n log n)"""
    n, d = points.shape
    if d == 1:
        lowest: Bools = points[:, 0] == points.min()
        return lowest
    member = np.empty(n, np.bool_)
    if d == 2:
        sweep2(points, _lexicographic(points), member)
    else:
        sweep3(points, _lexicographic(points), _rank(points[:, 1]), member)
    return member


def _lexicographic(points: Floats) -> Ints:
    """Rows in lexicographic order. One sort, unless the first dimension has ties."""
    order = np.argsort(points[:, 0])
    values = points[order, 0]
    if (values[1:] == values[:-1]).any():
        order = np.lexsort(points.T[::-1])
    return order


def _rank(values: Floats) -> Ints:
    """1 for the lowest value, 2 for the next higher one, ...; the same for equals."""
    order = np.argsort(values)
    ascending = values[order]
    rank = np.ones(len(values), np.int64)
    rank[order[1:]] += np.cumsum(ascending[1:] > ascending[:-1])
    return rank


def _by_blocks(distinct: Floats, weights: Ints, k: int, workers: Workers) -> Bools:
    """Which of the distinct points fewer than k others dominate.

    In rounds, in ascending order of the keys: the next points become blocks; those blocks sift themselves, which
    settles their points, and then all points after them. So points are compared with those of the skyband only, and
    with those that share their round.
    """
    n = len(distinct)
    points = Bucketed(distinct, workers)
    keys = points.order_keys()
    order = np.argsort(keys)
    keys = keys[order]
    points.reorder(order)
    weights = weights[order]
    hits = np.zeros(n, np.int64)
    rows = np.arange(n)
    settled = []
    size = BLOCK
    while len(rows):
        size = min(size, len(rows))
        _settle_ties(points.points, keys, rows, size)
        head = rows[:size]
        blocks = points.blocks(head, weights[head])
        head = points.sift(head, hits, blocks, k)
        if blocks_for(len(head)) < len(blocks):
            blocks = points.blocks(head, weights[head])
        settled.append(head)
        rows = points.sift(rows[size:], hits, blocks, k)
        size = min(2 * size, _MOST_BLOCKS * BLOCK)
    member = np.zeros(n, np.bool_)
    member[order[np.concatenate(settled)]] = True
    return member


def _settle_ties(points: Floats, keys: Ints, rows: Ints, size: int) -> None:
    """Sorts the rows on both sides of the cut at `size` that share a key, so that none after it dominates one before.

    A dominator never has a higher key, and with the same key it comes first lexicographically.
    """
    if size == len(rows):
        return
    key = keys[rows[size - 1]]
    low, high = np.searchsorted(keys[rows], [key, key + 1])
    if high > size:
        tied = rows[low:high]
        rows[low:high] = tied[np.lexsort(points[tied].T[::-1])]
