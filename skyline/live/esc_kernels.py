# mypy: ignore-errors
"""The searches that only ESC makes: both skylines at once, the approximate exclusive data region, and what fills it.

Points, places and trees are as in blocktree_kernels.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.dominance_kernels import dominates
from skyline.live.blocktree_kernels import (
    FAR,
    any_dominates,
    any_surely_dominates,
    as_array,
    is_dominated,
    no_slots,
    pop,
    push,
    reaches_below,
    row_total,
    surely_dominates,
)

ABSENT = np.int8(0)
REGULAR = np.int8(1)
SECOND = np.int8(2)
FIRST = np.int8(3)
"""Roles of an object in its group."""


@njit(cache=True)
def two_skylines(tree, points, places):
    """S1, S2, and for each of S2 the index in S1 of the dominator with the largest sum of places (Algorithm 1).

    One best-first traversal: objects come in ascending order of their sum, dominators first, so a decision is final
    when it is made. Going back through S1 from its end finds the dominator with the largest sum first. An entry is
    discarded only if S2 dominates it; what S1 alone dominates may still hold objects of S2.
    """
    first, second, owners = no_slots(), no_slots(), no_slots()
    heap = [(0.0, ~tree.root)]
    while len(heap) > 0:
        ref = pop(heap, points)[1]
        if ref >= 0:
            if not any_dominates(second, points, ref):
                owner = _last_dominator(first, points, ref)
                if owner < 0:
                    first.append(ref)
                else:
                    second.append(ref)
                    owners.append(owner)
            continue
        block = ~ref
        while block >= 0:
            for e in range(tree.used[block]):
                child = tree.ids[block, e]
                if tree.leaf[block]:
                    if not any_dominates(second, points, child):
                        push(heap, row_total(places, child), child, points)
                elif not any_surely_dominates(second, places, tree.low[block], e):
                    push(heap, row_total(tree.low[block], e), ~child, points)
            block = tree.next[block]
    return as_array(first), as_array(second), as_array(owners)


@njit(cache=True)
def exclusive_corner(second, points, places, point, place):
    """The upper corner (d,) of AEDR(point), a closed box in places whose lower corner is `place`.

    An object of S2 that exceeds the point in dimension k alone dominates all that the point dominates beyond it in k:
    it cuts the box there. Objects that exceed it in more dimensions would leave no box.
    """
    corner = np.full(place.shape[1], FAR)
    stack = [second.root]
    while len(stack) > 0:
        block = stack.pop()
        while block >= 0:
            for e in range(second.used[block]):
                if not _can_cut(second.low, block, e, place, corner):
                    continue
                child = second.ids[block, e]
                if not second.leaf[block]:
                    stack.append(child)
                    continue
                k = _only_excess(points, child, point)
                if k >= 0:
                    corner[k] = min(corner[k], places[child, k])
            block = second.next[block]
    return corner


@njit(cache=True)
def substitutes(data, second, points, places, roles, lows, highs):
    """The skyline of the regular objects in the boxes [lows[i], highs[i]] that S2 does not dominate.

    Best-first over the data, discarding what lies outside the boxes and what S2, or a substitute found, dominates.
    """
    found = no_slots()
    heap = [(0.0, ~data.root)]
    while len(heap) > 0:
        ref = pop(heap, points)[1]
        if ref >= 0:
            if not any_dominates(found, points, ref):
                found.append(ref)
            continue
        block = ~ref
        while block >= 0:
            for e in range(data.used[block]):
                if not _meets_any(data.low, data.high, block, e, lows, highs):
                    continue
                child = data.ids[block, e]
                if not data.leaf[block]:
                    if not _holds_none(data.low[block], e, second, found, places):
                        push(heap, row_total(data.low[block], e), ~child, points)
                elif roles[child] == REGULAR and not any_dominates(found, points, child):
                    point, place = points[child : child + 1], places[child : child + 1]
                    if not is_dominated(second, points, point, place):
                        push(heap, row_total(places, child), child, points)
            block = data.next[block]
    return as_array(found)


@njit(cache=True)
def _last_dominator(slots, points, slot):
    for i in range(len(slots) - 1, -1, -1):
        if dominates(points, slots[i], points, slot):
            return i
    return -1


@njit(cache=True)
def _only_excess(points, slot, point):
    """The one dimension in which the slot exceeds the point; -1 if there are none or several."""
    only = -1
    for k in range(points.shape[1]):
        if points[slot, k] > point[0, k]:
            if only >= 0:
                return -1
            only = k
    return only


@njit(cache=True)
def _can_cut(low, block, e, place, corner):
    """Whether an object in this box may exceed the place in one dimension only, and there by less than the corner."""
    excess = False
    for k in range(place.shape[1]):
        if low[block, e, k] > place[0, k]:
            if excess or low[block, e, k] >= corner[k]:
                return False
            excess = True
    return True


@njit(cache=True)
def _meets_any(low, high, block, e, lows, highs):
    """Whether the entry's box and one of the boxes [lows[i], highs[i]] have a place in common."""
    for i in range(lows.shape[0]):
        meets = True
        for k in range(lows.shape[1]):
            if low[block, e, k] > highs[i, k] or high[block, e, k] < lows[i, k]:
                meets = False
                break
        if meets:
            return True
    return False


@njit(cache=True)
def _holds_none(low, entry, tree, slots, places):
    """Whether one of the slots, or an object of the tree, dominates everything above row `entry` of low."""
    if any_surely_dominates(slots, places, low, entry):
        return True
    corner = low[entry : entry + 1]
    stack = [tree.root]
    while len(stack) > 0:
        block = stack.pop()
        while block >= 0:
            for e in range(tree.used[block]):
                if not reaches_below(tree.low, block, e, corner):
                    continue
                if surely_dominates(tree.high[block], e, corner, 0):
                    return True
                if not tree.leaf[block]:
                    stack.append(tree.ids[block, e])
            block = tree.next[block]
    return False
