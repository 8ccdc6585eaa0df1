# mypy: ignore-errors
"""The three phases of `SnapshotSkyline` over flat arrays. Smaller is better.

    boxes  (N, 3, d)  each row's POINT now and the corners LOW and HIGH of its box (the paper's p, M.lb, M.ub)
    links  (N, 7)     each row's place among the others, by the columns named below
    skm    (N,)       skm[:count] are the rows whose boxes are skyline boxes, in no order; all others are NSKM

What belongs to a row lies together: a bulk of updates costs about as much as the cache lines that it touches.

A row of NSKM hangs below one row of SKM whose box dominates its own: links[row, ADRM]. The rows below a row of SKM are
a doubly linked list: links[root, DRM], then NEXT and PREVIOUS. A row of NSKM has no rows below it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.dominance_kernels import BLOCK, LARGER, SMALLER, relate

POINT = 0
LOW = 1
HIGH = 2

NONE = -1
PENDING = -2

ADRM = 0
"""The row above; NONE: the row is in SKM; PENDING: it is on the verification list."""
DRM = 1
NEXT = 2
PREVIOUS = 3
WITNESS = 4
"""Of a row of SKM: a row whose point dominates its point; NONE: it is a member of the skyline."""
CFP = 5
"""Of a row of SKM: for how many snapshots in a row it has been no member (consecutive false positives)."""
MOVED = 6
"""The last snapshot in which the row's point changed, or in which it came into SKM."""
COLUMNS = 7


@njit(cache=True)
def _dominates(boxes, i, corner, j, other):
    """Whether one corner of row i dominates another of row j: nowhere larger, somewhere smaller. O(d)."""
    smaller = False
    for k in range(boxes.shape[2]):
        if boxes[i, corner, k] > boxes[j, other, k]:
            return False
        if boxes[i, corner, k] < boxes[j, other, k]:
            smaller = True
    return smaller


@njit(cache=True)
def _attach(links, row, root):
    first = links[root, DRM]
    if first != NONE:
        links[first, PREVIOUS] = row
    links[row, ADRM] = root
    links[row, NEXT] = first
    links[row, PREVIOUS] = NONE
    links[root, DRM] = row


@njit(cache=True)
def _detach(links, row):
    before, after = links[row, PREVIOUS], links[row, NEXT]
    if before != NONE:
        links[before, NEXT] = after
    else:
        links[links[row, ADRM], DRM] = after
    if after != NONE:
        links[after, PREVIOUS] = before
    links[row, ADRM] = PENDING


@njit(cache=True)
def _restart(boxes, row):
    """Begins the row's box anew at its point. It dominates at least what it dominated before (Lemma 3)."""
    for k in range(boxes.shape[2]):
        boxes[row, LOW, k] = boxes[row, POINT, k]
        boxes[row, HIGH, k] = boxes[row, POINT, k]


@njit(cache=True)
def _holds(boxes, root, row):
    """Whether root still dominates row, box or point; boxes that stand in the way of that are begun anew."""
    if _dominates(boxes, root, HIGH, row, LOW):
        return True
    if not _dominates(boxes, root, POINT, row, POINT):
        return False
    _restart(boxes, row)
    if not _dominates(boxes, root, HIGH, row, LOW):
        _restart(boxes, root)
    return True


@njit(cache=True)
def update(boxes, links, rows, values, now, pending):
    """Writes values (n, d) to rows (n,), grows their boxes, and lists the rows that lost what dominated them.

    Returns how many rows were written to pending. O(d) per row, and O(d) for each row below a row of SKM whose high
    corner grew.
    """
    count = 0
    for u in range(rows.size):
        row = rows[u]
        moved, lower, higher = False, False, False
        for k in range(boxes.shape[2]):
            value = values[u, k]
            moved |= value != boxes[row, POINT, k]
            lower |= value < boxes[row, LOW, k]
            higher |= value > boxes[row, HIGH, k]
            boxes[row, POINT, k] = value
            boxes[row, LOW, k] = min(value, boxes[row, LOW, k])
            boxes[row, HIGH, k] = max(value, boxes[row, HIGH, k])
        if not moved:
            continue
        links[row, MOVED] = now
        above = links[row, ADRM]
        if above == NONE:
            if higher:  # cases I and III: the row dominates less than before
                child = links[row, DRM]
                while child != NONE:
                    after = links[child, NEXT]
                    if not _holds(boxes, row, child):
                        _detach(links, child)
                        pending[count] = child
                        count += 1
                    child = after
        elif above != PENDING and lower and not _holds(boxes, above, row):  # cases II and III
            _detach(links, row)
            pending[count] = row
            count += 1
    return count


@njit(cache=True)
def verify(boxes, links, skm, count, pending, now):
    """Hangs each pending row below a row of SKM whose box dominates it, or takes it into SKM. Returns SKM's new size.

    O(n log n + n d |SKM|) for n pending rows, and far less where most are dominated: a box that was found to dominate
    moves halfway to the front of the search.
    """
    # By ascending sum a row comes after those that dominate it, save for rounding and infinities, which cost a
    # candidate too many at worst.
    sums = np.zeros(pending.size)
    for n in range(pending.size):
        for k in range(boxes.shape[2]):
            sums[n] += boxes[pending[n], POINT, k]
    for n in np.argsort(sums):
        row = pending[n]
        _restart(boxes, row)
        place = 0
        while place < count and not _dominates(boxes, skm[place], HIGH, row, LOW):
            place += 1
        if place < count:
            root, front = skm[place], place // 2
            skm[place], skm[front] = skm[front], root
            _attach(links, row, root)
        else:
            links[row, ADRM] = NONE
            links[row, WITNESS] = NONE
            links[row, CFP] = 0
            links[row, MOVED] = now
            skm[count] = row
            count += 1
    return count


@njit(cache=True)
def evaluate(boxes, links, skm, now):
    """Rows of skm (c,) whose points no row of skm dominates, in no order; every other row of skm gets a witness.

    Block-nested-loop whose window starts out with the members that have not moved since it was last computed.
    O(c + o d w) for o candidates that moved, or whose witness did, and a window of w.
    """
    window = np.empty(skm.size, np.int64)
    columns = np.empty((boxes.shape[2], skm.size))
    size = 0
    unsettled = np.empty(skm.size, np.int64)
    waiting = 0
    for row in skm:
        witness = links[row, WITNESS]
        if links[row, MOVED] == now or (witness != NONE and links[witness, MOVED] == now):
            unsettled[waiting] = row
            waiting += 1
        elif witness == NONE:
            columns[:, size] = boxes[row, POINT]
            window[size] = row
            size += 1
    flags = np.empty(BLOCK, np.int32)
    for row in unsettled[:waiting]:
        witness = links[row, WITNESS]
        if witness != NONE and _dominates(boxes, witness, POINT, row, POINT):
            continue
        links[row, WITNESS] = _join(boxes, links, window, columns, size, row, flags)
        if links[row, WITNESS] == NONE:
            columns[:, size] = boxes[row, POINT]
            window[size] = row
            size += 1
    return window[:size][links[window[:size], WITNESS] == NONE]


@njit(cache=True)
def _join(boxes, links, window, columns, size, row, flags):
    """A row of the window that dominates row, or NONE; row becomes the witness of those in the window it dominates.

    These stay in the window: what they dominate is no member either.
    """
    for start in range(0, size, BLOCK):
        block = flags[: min(BLOCK, size - start)]
        relate(columns, start, boxes[row], POINT, block)
        for w in range(block.size):
            if block[w] == SMALLER:
                return window[start + w]
            if block[w] == LARGER:
                links[window[start + w], WITNESS] = row
    return NONE


@njit(cache=True)
def reconstruct(boxes, links, skm, count, limit):
    """Counts false positives; moves those that have been one `limit` times to NSKM. Returns SKM's new size.

    The row goes below the member that dominates its point, with all that hung below it. Both boxes are begun anew, so
    that the one surely dominates the other. No dominance test; O(1) per row moved.
    """
    place = 0
    while place < count:
        row = skm[place]
        if links[row, WITNESS] == NONE:
            links[row, CFP] = 0
        else:
            links[row, CFP] += 1
            if links[row, CFP] >= limit:
                root = _member_above(links, row)
                _restart(boxes, row)
                _restart(boxes, root)
                _hang_all(links, row, root)
                count -= 1
                skm[place] = skm[count]
                continue
        place += 1
    return count


@njit(cache=True)
def _member_above(links, row):
    """The member reached from row by witness and ADRM. Each step leads to a point that dominates the one before."""
    while True:
        if links[row, ADRM] != NONE:
            row = links[row, ADRM]
        elif links[row, WITNESS] != NONE:
            row = links[row, WITNESS]
        else:
            return row


@njit(cache=True)
def _hang_all(links, row, root):
    child = links[row, DRM]
    links[row, DRM] = NONE
    while child != NONE:
        after = links[child, NEXT]
        _attach(links, child, root)
        child = after
    _attach(links, row, root)
