# mypy: ignore-errors
# ruff: noqa: SIM110 (numba compiles loops, but no any() or all() over a generator)
"""Searches of a tree of boxes, as the papers describe them: depth-first, best-first, by the corners of the boxes.

Boxes are compared in places, which may coincide where points differ, so a box only ever rules things out or in for
sure. Whether one object dominates another is decided by the points themselves. A point or place that is asked about
comes as a (1, d) array.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numba import njit

from skyline.dominance_kernels import dominates

EXACT = 2.0**50
"""Numbers below this size are their own place. From here on the bits of the float, read as an integer, take over:
they ascend as the float does, and reach 2^60 where the float reaches infinity. So the volume of the largest box in
16 dimensions is below 2^1000, and the R*-tree can compare volumes."""
FAR = 2.0**60
"""The place of infinity, and of nothing else."""
_EXACT_BITS = np.float64(EXACT).view(np.int64)


@njit(cache=True)
def place(points, slots, places):
    """Sets the rows `slots` of places (capacity, max(d, 2)) from those of points (capacity, d). O(d) each."""
    bits = points.view(np.int64)
    for slot in slots:
        for k in range(points.shape[1]):
            value = points[slot, k]
            size = abs(value)
            if size >= EXACT:
                magnitude = bits[slot, k] & np.int64(0x7FFFFFFFFFFFFFFF)
                size = FAR if np.isinf(size) else EXACT + np.float64(magnitude - _EXACT_BITS) * 0.125
                value = size if value > 0.0 else -size
            places[slot, k] = value


@njit(cache=True)
def is_dominated(tree, points, point, place):
    """Whether an object of the tree dominates `point` (LookOut's isSkyline, the other way round).

    Best-first by the sum of the lower corner. A node is discarded if its lower corner exceeds the place somewhere; if
    its upper corner dominates the place, so does every object below.
    """
    heap = [(0.0, tree.root)]
    while len(heap) > 0:
        block = heappop(heap)[1]
        while block >= 0:
            for e in range(tree.used[block]):
                if not reaches_below(tree.low, block, e, place):
                    continue
                child = tree.ids[block, e]
                if tree.leaf[block]:
                    if dominates(points, child, point, 0):
                        return True
                elif surely_dominates(tree.high[block], e, place, 0):
                    return True
                else:
                    heappush(heap, (row_total(tree.low[block], e), child))
            block = tree.next[block]
    return False


@njit(cache=True)
def farthest_dominator(tree, points, places, point, place):
    """Of the objects that dominate `point`, the one with the largest sum of places; -1 if there is none.

    Best-first, descending (ESC's dominance-descending), by the largest sum that an object below can have: that of
    the upper corner, cut at the place.
    """
    best, best_total = np.int64(-1), -np.inf
    heap = [(-np.inf, tree.root)]
    while len(heap) > 0:
        bound, block = heappop(heap)
        if -bound <= best_total:
            break
        while block >= 0:
            for e in range(tree.used[block]):
                if not reaches_below(tree.low, block, e, place):
                    continue
                child = tree.ids[block, e]
                if tree.leaf[block]:
                    total = row_total(places, child)
                    if (best < 0 or total > best_total) and dominates(points, child, point, 0):
                        best, best_total = child, total
                else:
                    bound = 0.0
                    for k in range(place.shape[1]):
                        bound += min(tree.high[block, e, k], place[0, k])
                    heappush(heap, (-bound, child))
            block = tree.next[block]
    return best


@njit(cache=True)
def dominated_by(tree, points, point, place):
    """All objects that `point` dominates: a window query over its dominance region."""
    found = no_slots()
    stack = [tree.root]
    while len(stack) > 0:
        block = stack.pop()
        while block >= 0:
            for e in range(tree.used[block]):
                if reaches_above(tree.high, block, e, place):
                    child = tree.ids[block, e]
                    if not tree.leaf[block]:
                        stack.append(child)
                    elif dominates(point, 0, points, child):
                        found.append(child)
            block = tree.next[block]
    return as_array(found)


@njit(cache=True)
def mini_skyline(tree, points, places, point, place):
    """The skyline of the objects that `point` dominates (LookOut's MINI).

    A node is discarded if the point does not dominate its upper corner, or if the mini skyline found so far dominates
    its lower corner. That corner is first moved up to the place: what lies below is of no interest, and the corner of
    a node that straddles the border of the dominance region could not be dominated. A leaf gives its local skyline.
    """
    found = no_slots()
    if tree.root < 0:
        return as_array(found)
    corner = np.empty_like(place)
    heap = [(0.0, ~tree.root)]
    while len(heap) > 0:
        ref = pop(heap, points)[1]
        if ref >= 0:
            if not any_dominates(found, points, ref):
                found.append(ref)
            continue
        block = ~ref
        while block >= 0:
            for e in range(tree.used[block]):
                if not reaches_above(tree.high, block, e, place):
                    continue
                child = tree.ids[block, e]
                if tree.leaf[block]:
                    if (
                        dominates(point, 0, points, child)
                        and not _locally_dominated(tree, block, points, point, child)
                        and not any_dominates(found, points, child)
                    ):
                        push(heap, row_total(places, child), child, points)
                else:
                    for k in range(place.shape[1]):
                        corner[0, k] = max(tree.low[block, e, k], place[0, k])
                    if not any_surely_dominates(found, places, corner, 0):
                        push(heap, row_total(corner, 0), ~child, points)
            block = tree.next[block]
    return as_array(found)


@njit(cache=True)
def push(heap, total, ref, points):
    """Adds a slot (ref >= 0) or a node (~block) to a binary heap in the order of `_before`."""
    heap.append((total, ref))
    i = len(heap) - 1
    while i > 0:
        parent = (i - 1) >> 1
        if not _before(heap[i], heap[parent], points):
            break
        heap[i], heap[parent] = heap[parent], heap[i]
        i = parent


@njit(cache=True)
def pop(heap, points):
    """Removes and gives the first (total, ref) of the heap."""
    first = heap[0]
    last = heap.pop()
    if len(heap) > 0:
        heap[0] = last
        i = 0
        while True:
            child = 2 * i + 1
            if child >= len(heap):
                break
            if child + 1 < len(heap) and _before(heap[child + 1], heap[child], points):
                child += 1
            if not _before(heap[child], heap[i], points):
                break
            heap[i], heap[child] = heap[child], heap[i]
            i = child
    return first


@njit(cache=True)
def _before(a, b, points):
    """By total; then nodes before objects, then objects in lexicographic order.

    So no object comes before one that dominates it, nor before a node that holds one, although rounded sums can tie.
    """
    if a[0] != b[0]:
        return a[0] < b[0]
    if a[1] < 0 or b[1] < 0:
        return a[1] < 0 <= b[1]
    for k in range(points.shape[1]):
        if points[a[1], k] != points[b[1], k]:
            return points[a[1], k] < points[b[1], k]
    return False


@njit(cache=True)
def row_total(rows, i):
    """The sum of a row, always added up in the same order, so that it never descends where no coordinate does."""
    total = 0.0
    for k in range(rows.shape[1]):
        total += rows[i, k]
    return total


@njit(cache=True)
def reaches_below(low, block, e, place):
    """Whether a box has room for a place that is nowhere larger than this one."""
    for k in range(place.shape[1]):
        if low[block, e, k] > place[0, k]:
            return False
    return True


@njit(cache=True)
def reaches_above(high, block, e, place):
    """Whether a box has room for a place that is nowhere smaller than this one."""
    for k in range(place.shape[1]):
        if high[block, e, k] < place[0, k]:
            return False
    return True


@njit(cache=True)
def surely_dominates(p, i, q, j):
    """Whether every point with place p[i] dominates every point with place q[j].

    Equal places between `EXACT` and `FAR` may belong to different points, in either order.
    """
    smaller = False
    for k in range(p.shape[1]):
        if p[i, k] > q[j, k]:
            return False
        if p[i, k] < q[j, k]:
            smaller = True
        elif EXACT <= abs(p[i, k]) < FAR:
            return False
    return smaller


@njit(cache=True)
def any_dominates(slots, points, slot):
    """Whether one of the slots dominates this one."""
    for other in slots:
        if dominates(points, other, points, slot):
            return True
    return False


@njit(cache=True)
def any_surely_dominates(slots, places, low, e):
    """Whether one of the slots dominates everything above row e of low."""
    for other in slots:
        if surely_dominates(places, other, low, e):
            return True
    return False


@njit(cache=True)
def _locally_dominated(tree, block, points, point, slot):
    """Whether an object of the same leaf block that `point` dominates dominates this one."""
    for e in range(tree.used[block]):
        other = tree.ids[block, e]
        if dominates(points, other, points, slot) and dominates(point, 0, points, other):
            return True
    return False


@njit(cache=True)
def no_slots():
    return [np.int64(0) for _ in range(0)]


@njit(cache=True)
def as_array(slots):
    array = np.empty(len(slots), np.int64)
    for i in range(len(slots)):
        array[i] = slots[i]
    return array
