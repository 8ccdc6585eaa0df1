# mypy: ignore-errors
"""One element after another into R_N: the paper's Algorithm 1. Compiled once for every number of dimensions."""

from __future__ import annotations

from numba import njit

from skyline.window.layout import (
    AT,
    CHILD,
    CLOCK,
    COUNT,
    ENDED,
    ENDER,
    GONE,
    HEAD,
    LIVE,
    NEXT,
    NEXT_ENDED,
    NONE,
    OPEN,
    OPEN_END,
    ORIGIN,
    OVERFLOW,
    PARENT,
    POSITION,
    ROWS,
    SLOT,
    STAMP,
    TAIL,
)
from skyline.window.pack_kernels import pack_overflow
from skyline.window.search_kernels import find_dominated, put, take, youngest_dominator
from skyline.window.stab_kernels import plant, uproot

FEW = 32
"""Rows that are put in order by insertion: numba's sort first makes a list on the heap."""


@njit(cache=True)
def _drop(rows, floors, meta, points, trees, row):
    """Takes a live row out of R_N; what standing queries need to know of it stays."""
    take(meta, points, trees, rows[row, SLOT])
    uproot(floors, rows.shape[0], row)
    rows[row, SLOT] = GONE
    meta[LIVE] -= 1


@njit(cache=True)
def _retire(rows, floors, meta, points, trees, cut):
    while meta[HEAD] < meta[ROWS] and rows[meta[HEAD], STAMP] <= cut:
        if rows[meta[HEAD], SLOT] != GONE:
            _drop(rows, floors, meta, points, trees, meta[HEAD])
        meta[HEAD] += 1


@njit(cache=True)
def retire(members, index, cut):
    """Takes the rows with stamps up to `cut` out of R_N. O(log R) for each."""
    _retire(members.rows, members.floors, members.meta, index.points, index.trees, cut)


@njit(cache=True)
def _order(rows, count):
    """Puts the first `count` rows in order of age, by insertion while they are few."""
    if count > FEW:
        rows[:count].sort()
        return
    for i in range(1, count):
        row, j = rows[i], i
        while j > 0 and rows[j - 1] > row:
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = row


@njit(cache=True)
def append(members, index, new, at, start, width, by_size, unit):
    """Appends new[start:] until all are in or the rows are used up; returns how far it came.

    at (n,) are event times; width is N, or the span. Per element: the two searches, and O(log R) for the stab tree.
    An element whose dominator bears its own stamp leaves every window together with it, and never is an answer: it
    takes a row, but has no place in R_N, and ends itself.
    """
    rows, floors, meta = members
    points, row_of, low, high, young, trees, _, ended, found, stack = index
    for i in range(start, new.shape[0]):
        row, position, point = meta[ROWS], meta[COUNT], new[i]
        if row == rows.shape[0]:
            return i
        stamp = position if by_size else at[i]
        _retire(rows, floors, meta, points, trees, stamp - width)
        count = find_dominated(meta, trees, stack, points, high, found, point, unit)
        parent = youngest_dominator(meta, trees, stack, points, row_of, low, young, point, unit)
        origin = rows[parent, STAMP] if parent >= 0 else NONE
        rows[row, POSITION] = position
        rows[row, STAMP] = stamp
        rows[row, AT] = at[i]
        rows[row, ORIGIN] = origin
        rows[row, ENDER] = OPEN_END
        rows[row, PARENT] = parent
        rows[row, CHILD] = -1
        rows[row, NEXT] = -1
        rows[row, ENDED] = -1
        for j in range(count):
            ended[j] = row_of[found[j]]
        _order(ended, count)
        for j in range(count):
            other = ended[j]
            _drop(rows, floors, meta, points, trees, other)
            rows[other, ENDER] = position
            rows[other, NEXT_ENDED] = rows[row, ENDED]
            rows[row, ENDED] = other
        meta[ROWS] = row + 1
        meta[COUNT] = position + 1
        meta[CLOCK] = at[i]
        if origin == stamp:
            rows[row, SLOT] = GONE
            rows[row, ENDER] = position
            continue
        rows[row, SLOT] = put(meta, points, row_of, row, point)
        if parent >= 0:
            rows[row, NEXT] = rows[parent, CHILD]
            rows[parent, CHILD] = row
        plant(floors, rows.shape[0], row, origin)
        meta[LIVE] += 1
        if meta[TAIL] - meta[OPEN] >= OVERFLOW:
            pack_overflow(members, index)
    return new.shape[0]
