# mypy: ignore-errors
"""n-of-N queries by stabbing: which rows are younger than the cut, and their critical dominators are not.

The paper keeps an interval tree over (a(e), e]. Rows are in order of age already, so half of the question is "which
rows after this one", and a tree of minima over the stamps of critical dominators answers the other half: it is an
array, nothing is ever rebalanced, and answers come out in order of position.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.window.layout import DEAD, HEAD, LIVE, POSITION, ROWS, STAMP, WIDTH


@njit(cache=True)
def plant(floors, capacity, row, origin):
    """Enters a new row whose critical dominator bears the stamp `origin`. O(log R)."""
    start, size, place = 0, capacity, row
    floors[place] = origin
    while size > 1:
        start += size
        size = (size + WIDTH - 1) // WIDTH
        place //= WIDTH
        if floors[start + place] <= origin:
            return
        floors[start + place] = origin


@njit(cache=True)
def uproot(floors, capacity, row):
    """Takes a row out. O(log R): goes up only as long as minima change."""
    start, size, place = 0, capacity, row
    floors[place] = DEAD
    while size > 1:
        group = place // WIDTH
        least = DEAD
        for i in range(group * WIDTH, min((group + 1) * WIDTH, size)):
            least = min(least, floors[start + i])
        start += size
        size = (size + WIDTH - 1) // WIDTH
        place = group
        if floors[start + place] == least:
            return
        floors[start + place] = least


@njit(cache=True)
def first_after(rows, head, end, cut):
    """The first row in [head, end) with a stamp above `cut`, or `end`. O(log R)."""
    while head < end:
        middle = (head + end) >> 1
        if rows[middle, STAMP] > cut:
            end = middle
        else:
            head = middle + 1
    return head


@njit(cache=True)
def next_row(floors, offset, capacity, row, end, limit):
    """The first row in [row, end) that may have a floor of at most `limit`, or `end`.

    At the start of a run of 16, 256, ... rows whose floors all exceed the limit, the run is skipped; within a run
    that is not skipped, rows come one by one. `offset` is where the level of 16s starts in `floors`.
    """
    while row < end:
        if row % WIDTH != 0:
            return row
        start, size, place, step = offset, (capacity + WIDTH - 1) // WIDTH, row // WIDTH, WIDTH
        if floors[start + place] <= limit:
            return row
        while size > 1 and place % WIDTH == 0:
            above = start + size
            if floors[above + place // WIDTH] <= limit:
                break
            start = above
            size = (size + WIDTH - 1) // WIDTH
            place //= WIDTH
            step *= WIDTH
        row += step
    return end


@njit(cache=True)
def stab(members, cut):
    """Positions of the rows younger than `cut` whose critical dominators are not, ascending.

    O(log R) for the first, and O(log R) for every answer at worst; answers close together cost O(1) each.
    """
    rows, floors, meta = members
    capacity, end = rows.shape[0], meta[ROWS]
    answer = np.empty(meta[LIVE], np.int64)
    count = 0
    row = next_row(floors, capacity, capacity, first_after(rows, meta[HEAD], end, cut), end, cut)
    while row < end:
        if floors[row] <= cut:
            answer[count] = rows[row, POSITION]
            count += 1
        row = next_row(floors, capacity, capacity, row + 1, end, cut)
    return answer[:count].copy()


@njit(cache=True)
def first_row_after(members, cut):
    """The oldest row above `cut`: where a standing query stands. O(log R)."""
    rows, _, meta = members
    return first_after(rows, meta[HEAD], meta[ROWS], cut)
