# mypy: ignore-errors
"""(n1, n2)-of-N: every element of P_N with its critical dominator and with the one that ends it.

e is in the skyline of the stretch [first, last] of positions iff ancestor(e) < first <= e <= last < ender(e). In a
window by span, an element whose dominator bears the same stamp is never in any answer: it ends itself (ender(e) = e).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.window.layout import (
    AT,
    ENDED,
    ENDER,
    NEXT_ENDED,
    OPEN_END,
    PARENT,
    POSITION,
    ROWS,
    WIDTH,
)
from skyline.window.stab_kernels import next_row


@njit(cache=True)
def _lower_floors(floors, ring, position, ancestor):
    """Enters a new element into the minima over the ring; the first of a run starts the run afresh.

    A run that the ring is overwriting then speaks for its new part only. That is enough: a search uses a run only
    from its first position on, and the first position of the old part is gone.
    """
    start, size, place, run = 0, (ring + WIDTH - 1) // WIDTH, (position & (ring - 1)) // WIDTH, WIDTH
    while True:
        if position % run == 0 or ancestor < floors[start + place]:
            floors[start + place] = ancestor
        if size <= 1:
            return
        start += size
        size = (size + WIDTH - 1) // WIDTH
        place //= WIDTH
        run *= WIDTH


@njit(cache=True)
def record(history, position, time, ancestor):
    """Enters the newest element, but for its point."""
    ring = history.time.size
    place = position & (ring - 1)
    history.time[place] = time
    history.ancestor[place] = ancestor
    history.ender[place] = OPEN_END
    history.fore[place, 0] = -1
    history.back[place, 0] = -1
    _lower_floors(history.floors, ring, position, ancestor)
    if ancestor >= 0:
        parent = ancestor & (ring - 1)
        history.fore[place, 1] = history.fore[parent, 0]
        history.fore[parent, 0] = position


@njit(cache=True)
def record_end(history, position, ender):
    """Notes that `ender` ended `position`. The ends of one ender come in order of position."""
    mask = history.time.size - 1
    history.ender[position & mask] = ender
    history.back[position & mask, 1] = history.back[ender & mask, 0]
    history.back[ender & mask, 0] = position


@njit(cache=True)
def record_rows(members, history, first, points, scratch):
    """Enters the rows from `first` on, whose points these are. O(d) for each."""
    rows, _, meta = members
    for i in range(meta[ROWS] - first):
        row = first + i
        position, parent = rows[row, POSITION], rows[row, PARENT]
        for k in range(points.shape[1]):
            history.points[position & (history.time.size - 1), k] = points[i, k]
        record(history, position, rows[row, AT], rows[parent, POSITION] if parent >= 0 else -1)
        if rows[row, ENDER] == position:
            history.ender[position & (history.time.size - 1)] = position
        # rows list what they ended from young to old; the history wants the oldest entered first
        count = 0
        other = rows[row, ENDED]
        while other >= 0:
            scratch[count] = rows[other, POSITION]
            count += 1
            other = rows[other, NEXT_ENDED]
        for j in range(count - 1, -1, -1):
            record_end(history, scratch[j], position)


@njit(cache=True)
def first_position_after(history, oldest, count, cut):
    """The first position in [oldest, count) with a time above `cut`, or `count`. O(log N)."""
    mask = history.time.size - 1
    while oldest < count:
        middle = (oldest + count) >> 1
        if history.time[middle & mask] > cut:
            count = middle
        else:
            oldest = middle + 1
    return oldest


@njit(cache=True)
def stretch_skyline(history, first, last):
    """Positions of the skyline of the stretch [first, last], ascending.

    O(log N + l log N) at worst, l the elements of the stretch that no older one in it dominates. The paper stabs all
    that came after `first`; here the end of the stretch ends the search.
    """
    ring = history.time.size
    answer, count = np.empty(64, np.int64), 0
    position = first
    while position <= last:
        # one lap of the ring at a time: in it, runs are aligned in positions as they are in places
        lap = position & ~(ring - 1)
        end = min(last + 1, lap + ring)
        position = lap + next_row(history.floors, 0, ring, position - lap, end - lap, first - 1)
        if position < end:
            place = position - lap
            if history.ancestor[place] < first and history.ender[place] > last:
                if count == answer.size:
                    grown = np.empty(2 * count, np.int64)
                    grown[:count] = answer
                    answer = grown
                answer[count] = position
                count += 1
            position += 1
    return answer[:count].copy()
