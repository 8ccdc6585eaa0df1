# mypy: ignore-errors
"""The two searches over R_N: what a new point dominates, and the youngest element that dominates it.

Both go over the overflow group by group and over the trees box by box, sixteen at a time. `unit` is a tuple of d
zeros: its length is known when the kernel is compiled, so that loops over dimensions unroll and loops over lanes
become vector instructions. The lanes' loops end at a shape, not at a constant: a constant would be unrolled before
it could be vectorised. Kernels that run once per element take single arrays: a tuple of all of them costs more to hand
over than a small search.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.window.layout import (
    BASE,
    DEAD,
    OPEN,
    TAIL,
    TREE_GROUPS,
    TREE_LEVELS,
    TREE_LIVE,
    TREES,
    WIDTH,
)


@njit(cache=True)
def _any_at_least(corners, group, point, unit):
    """Whether some lane of a group is at least the point in every dimension."""
    count = 0
    for lane in range(corners.shape[2]):
        reaches = True
        for k in range(len(unit)):
            reaches &= corners[group, k, lane] >= point[k]
        count += reaches
    return count > 0


@njit(cache=True)
def _any_at_most(corners, group, point, unit):
    """Whether some lane of a group is at most the point in every dimension."""
    count = 0
    for lane in range(corners.shape[2]):
        reaches = True
        for k in range(len(unit)):
            reaches &= corners[group, k, lane] <= point[k]
        count += reaches
    return count > 0


@njit(cache=True)
def _above(corners, group, lane, point, unit):
    """Whether the point dominates this lane; of an upper corner: whether it can dominate anything below it."""
    reaches, beyond = True, False
    for k in range(len(unit)):
        reaches &= corners[group, k, lane] >= point[k]
        beyond |= corners[group, k, lane] > point[k]
    return reaches & beyond


@njit(cache=True)
def _below(corners, group, lane, point, unit):
    """Whether this lane dominates the point; of a lower corner: whether anything above it can."""
    reaches, beyond = True, False
    for k in range(len(unit)):
        reaches &= corners[group, k, lane] <= point[k]
        beyond |= corners[group, k, lane] < point[k]
    return reaches & beyond


@njit(cache=True)
def _collect(points, found, group, point, unit, count):
    """Adds the slots of a group of points that the point dominates to `found`."""
    if _any_at_least(points, group, point, unit):
        for lane in range(WIDTH):
            if _above(points, group, lane, point, unit):
                found[count] = group * WIDTH + lane
                count += 1
    return count


@njit(cache=True)
def find_dominated(meta, trees, stack, points, high, found, point, unit):
    """Slots of all elements that the point dominates, in `found`; returns how many."""
    count = np.int64(0)  # typed, or numba would compile `_collect` once more for the constant 0
    for group in range(meta[OPEN] // WIDTH, (meta[TAIL] + WIDTH - 1) // WIDTH):
        count = _collect(points, found, group, point, unit, count)
    for tree in range(meta[TREES]):
        stack[0, 0], stack[0, 1] = trees[tree, TREE_LEVELS], 0
        top = 1
        while top > 0:
            top -= 1
            level, place = stack[top, 0], stack[top, 1]
            group = trees[tree, BASE + level] + place
            if level == 0:
                count = _collect(points, found, group, point, unit, count)
            elif _any_at_least(high, group, point, unit):
                for lane in range(WIDTH):
                    if _above(high, group, lane, point, unit):
                        stack[top, 0], stack[top, 1] = level - 1, place * WIDTH + lane
                        top += 1
    return count


@njit(cache=True)
def _youngest_in_tree(trees, stack, points, row_of, low, young, tree, point, unit):
    """The youngest row of a tree that dominates the point, or -1. Young branches first; older ones are cut off."""
    best = -1
    stack[0, 0], stack[0, 1], stack[0, 2] = trees[tree, TREE_LEVELS], 0, DEAD
    top = 1
    while top > 0:
        top -= 1
        if stack[top, 2] <= best:
            continue
        level, place = stack[top, 0], stack[top, 1]
        group = trees[tree, BASE + level] + place
        if level == 0:
            if _any_at_most(points, group, point, unit):
                for lane in range(WIDTH):
                    row = row_of[group * WIDTH + lane]
                    if row > best and _below(points, group, lane, point, unit):
                        best = row
        elif _any_at_most(low, group, point, unit):
            bottom = top
            for lane in range(WIDTH):
                youngest = young[group, lane]
                if youngest > best and _below(low, group, lane, point, unit):
                    i = top
                    while i > bottom and stack[i - 1, 2] > youngest:
                        stack[i, 0], stack[i, 1], stack[i, 2] = stack[i - 1, 0], stack[i - 1, 1], stack[i - 1, 2]
                        i -= 1
                    stack[i, 0], stack[i, 1], stack[i, 2] = level - 1, place * WIDTH + lane, youngest
                    top += 1
    return best


@njit(cache=True)
def youngest_dominator(meta, trees, stack, points, row_of, low, young, point, unit):
    """The youngest row that dominates the point, or -1: the overflow from its end, then the trees, youngest first."""
    for group in range((meta[TAIL] + WIDTH - 1) // WIDTH - 1, meta[OPEN] // WIDTH - 1, -1):
        if _any_at_most(points, group, point, unit):
            for lane in range(WIDTH - 1, -1, -1):
                if _below(points, group, lane, point, unit):
                    return row_of[group * WIDTH + lane]
    for tree in range(meta[TREES] - 1, -1, -1):
        row = _youngest_in_tree(trees, stack, points, row_of, low, young, tree, point, unit)
        if row >= 0:
            return row
    return -1


@njit(cache=True)
def put(meta, points, row_of, row, point):
    """Adds a row at the end of the overflow; returns its slot."""
    slot = meta[TAIL]
    group, lane = slot // WIDTH, slot % WIDTH
    if lane == 0:
        for i in range(WIDTH):
            points[group, 0, i] = np.nan
    for k in range(point.size):
        points[group, k, lane] = point[k]
    row_of[slot] = row
    meta[TAIL] = slot + 1
    return slot


@njit(cache=True)
def take(meta, points, trees, slot):
    """Removes what a slot holds. Boxes stay as they are until their tree is packed again. O(trees)."""
    points[slot // WIDTH, 0, slot % WIDTH] = np.nan
    if slot < meta[OPEN]:
        tree = 0
        while slot >= (trees[tree, BASE] + trees[tree, TREE_GROUPS]) * WIDTH:
            tree += 1
        trees[tree, TREE_LIVE] -= 1
