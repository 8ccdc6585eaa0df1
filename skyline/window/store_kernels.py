# mypy: ignore-errors
"""R_N out of its arrays, and into fresh ones: for checkpoints, and for starting afresh when the rows are used up."""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.window.history_kernels import record, record_end
from skyline.window.layout import (
    CHILD,
    ENDED,
    ENDER,
    HEAD,
    LIVE,
    NEXT,
    OPEN_END,
    ORIGIN,
    PARENT,
    POSITION,
    ROWS,
    SLOT,
    STAMP,
    TREES,
    WIDTH,
)
from skyline.window.pack_kernels import pack
from skyline.window.search_kernels import put
from skyline.window.stab_kernels import plant


@njit(cache=True)
def extract(members, index):
    """The live rows by age: points (m, d), positions, stamps, origins, and parents as numbers of live rows or -1."""
    rows, _, meta = members
    live, dims = meta[LIVE], index.points.shape[1]
    points = np.empty((live, dims))
    columns = np.empty((4, live), np.int64)
    number = np.full(rows.shape[0], -1, np.int64)
    count = 0
    for row in range(meta[HEAD], meta[ROWS]):
        slot = rows[row, SLOT]
        if slot < 0:
            continue
        for k in range(dims):
            points[count, k] = index.points[slot // WIDTH, k, slot % WIDTH]
        number[row] = count
        parent = rows[row, PARENT]
        columns[0, count] = rows[row, POSITION]
        columns[1, count] = rows[row, STAMP]
        columns[2, count] = rows[row, ORIGIN]
        columns[3, count] = number[parent] if parent >= 0 else -1
        count += 1
    return points, columns


@njit(cache=True)
def fill(members, index, points, columns):
    """Puts what `extract` gave into empty arrays, packed as one tree. O(m log m)."""
    rows, floors, meta = members
    live = points.shape[0]
    for row in range(live):
        parent = columns[3, row]
        rows[row, POSITION] = columns[0, row]
        rows[row, STAMP] = columns[1, row]
        rows[row, ORIGIN] = columns[2, row]
        rows[row, ENDER] = OPEN_END
        rows[row, ENDED] = -1
        rows[row, SLOT] = put(meta, index.points, index.row_of, row, points[row])
        rows[row, PARENT] = parent
        rows[row, CHILD] = -1
        rows[row, NEXT] = -1
        if parent >= 0:
            rows[row, NEXT] = rows[parent, CHILD]
            rows[parent, CHILD] = row
        plant(floors, rows.shape[0], row, columns[2, row])
    meta[HEAD] = 0
    meta[ROWS] = live
    meta[LIVE] = live
    if live > 0:
        pack(members, index, meta[TREES])


@njit(cache=True)
def positions_of(members):
    """Positions of the live rows, ascending."""
    rows, _, meta = members
    answer = np.empty(meta[LIVE], np.int64)
    count = 0
    for row in range(meta[HEAD], meta[ROWS]):
        if rows[row, SLOT] >= 0:
            answer[count] = rows[row, POSITION]
            count += 1
    return answer


@njit(cache=True)
def points_of(members, index, positions):
    """Points of live rows by position, NaN where a position is not live. O(log R) each."""
    rows, _, meta = members
    dims = index.points.shape[1]
    answer = np.full((positions.size, dims), np.nan)
    for i in range(positions.size):
        low, high = meta[HEAD], meta[ROWS]
        while low < high:
            middle = (low + high) >> 1
            if rows[middle, POSITION] < positions[i]:
                low = middle + 1
            else:
                high = middle
        if low < meta[ROWS] and rows[low, POSITION] == positions[i] and rows[low, SLOT] >= 0:
            slot = rows[low, SLOT]
            for k in range(dims):
                answer[i, k] = index.points[slot // WIDTH, k, slot % WIDTH]
    return answer


@njit(cache=True)
def extract_history(history, oldest, count):
    """The positions [oldest, count) in order: points (m, d); times, ancestors and enders (3, m).

    An ancestor before `oldest` counts as none: every stretch begins after it.
    """
    mask = history.time.size - 1
    points = np.empty((count - oldest, history.points.shape[1]))
    columns = np.empty((3, count - oldest), np.int64)
    for i in range(count - oldest):
        place = (oldest + i) & mask
        for k in range(points.shape[1]):
            points[i, k] = history.points[place, k]
        columns[0, i] = history.time[place]
        columns[1, i] = history.ancestor[place] if history.ancestor[place] >= oldest else -1
        columns[2, i] = history.ender[place]
    return points, columns


@njit(cache=True)
def fill_history(history, oldest, points, columns):
    """Puts what `extract_history` gave into an empty ring."""
    mask = history.time.size - 1
    for i in range(points.shape[0]):
        position = oldest + i
        for k in range(points.shape[1]):
            history.points[position & mask, k] = points[i, k]
        record(history, position, columns[0, i], columns[1, i])
    for i in range(points.shape[0]):
        position, ender = oldest + i, columns[2, i]
        if ender == position:
            history.ender[position & mask] = position
        elif ender != OPEN_END:
            record_end(history, position, ender)
