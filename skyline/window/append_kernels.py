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


@njit(cache=True)
def _drop(members, index, row):
    """Takes a live row out of R_N; what standing queries need to know of it stays."""
    rows, floors, meta = members
    take(meta, index, rows[row, SLOT])
    uproot(floors, rows.shape[0], row)
    rows[row, SLOT] = GONE
    meta[LIVE] -= 1


@njit(cache=True)
def retire(members, index, cut):
    """Takes the rows with stamps up to `cut` out of R_N. O(log R) for each."""
    rows, _, meta = members
    while meta[HEAD] < meta[ROWS] and rows[meta[HEAD], STAMP] <= cut:
        if rows[meta[HEAD], SLOT] != GONE:
            _drop(members, index, meta[HEAD])
        meta[HEAD] += 1


@njit(cache=True)
def _end(members, index, count, row, position):
    """Takes the `count` rows in index.found out of R_N: the new row ended them."""
    rows = members.rows
    ended = index.order[:count]
    for i in range(count):
        ended[i] = index.row_of[index.found[i]]
    if count > 1:
        ended.sort()
    for other in ended:
        _drop(members, index, other)
        rows[other, ENDER] = position
        rows[other, NEXT_ENDED] = rows[row, ENDED]
        rows[row, ENDED] = other


@njit(cache=True)
def append(members, index, points, at, start, width, by_size, unit):
    """Appends points[start:] until all are in or the rows are used up; returns how far it came.

    at (n,) are event times; width is N, or the span. Per element: the two searches, and O(log R) for the stab tree.
    An element whose dominator bears its own stamp leaves every window together with it, and never is an answer: it
    takes a row, but has no place in R_N, and ends itself.
    """
    rows, floors, meta = members
    for i in range(start, points.shape[0]):
        row, position, point = meta[ROWS], meta[COUNT], points[i]
        if row == rows.shape[0]:
            return i
        stamp = position if by_size else at[i]
        retire(members, index, stamp - width)
        count = find_dominated(meta, index, point, unit)
        parent = youngest_dominator(meta, index, point, unit)
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
        if count > 0:
            _end(members, index, count, row, position)
        meta[ROWS] = row + 1
        meta[COUNT] = position + 1
        meta[CLOCK] = at[i]
        if origin == stamp:
            rows[row, SLOT] = GONE
            rows[row, ENDER] = position
            continue
        rows[row, SLOT] = put(meta, index, row, point)
        if parent >= 0:
            rows[row, NEXT] = rows[parent, CHILD]
            rows[parent, CHILD] = row
        plant(floors, rows.shape[0], row, origin)
        meta[LIVE] += 1
        if meta[TAIL] - meta[OPEN] >= OVERFLOW:
            pack_overflow(members, index)
    return points.shape[0]
