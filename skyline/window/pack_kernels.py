# mypy: ignore-errors
"""Packing points into a static tree: kd order, then boxes around every 16, every 256, ...

A tree has no pointers. Its points are put into an order in which every aligned run of 16, 256, 4096, ... is a cell of
a kd partition; level l holds one box per group of level l - 1, sixteen boxes to a group, dimension by dimension, so
that one comparison loop tests sixteen boxes. Cuts go by rank and in turn of the dimensions: scales do not matter.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.window.layout import BASE, OPEN, SLOT, TAIL, TREE_GROUPS, TREE_LEVELS, TREE_LIVE, TREES, WIDTH

SAMPLE = 8
"""Points looked at to see whether a dimension tells the points of a cell apart."""


@njit(cache=True)
def _select(order, keys, start, end, middle, k):
    """Reorders so that no key in dimension k before `middle` exceeds one after it. O(end - start), expected."""
    low, high = start, end - 1
    while low < high:
        a, b, c = keys[order[low], k], keys[order[(low + high) >> 1], k], keys[order[high], k]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while keys[order[i], k] < pivot:
                i += 1
            while keys[order[j], k] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(cache=True)
def _dimension_of_cut(order, keys, start, end, turn):
    """The next dimension in turn in which a sample of the cell differs."""
    dims = keys.shape[1]
    step = max(1, (end - start) // SAMPLE)
    for k in range(turn, turn + dims):
        first = keys[order[start], k % dims]
        for i in range(start + step, end, step):
            if keys[order[i], k % dims] != first:
                return k % dims
    return turn % dims


@njit(cache=True)
def _sort_into_cells(order, keys, count, stack):
    """Puts order[:count] into kd order, cells aligned to powers of 16. O(count log count)."""
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, count, 0
    top = 1
    while top > 0:
        top -= 1
        start, end, turn = stack[top, 0], stack[top, 1], stack[top, 2]
        size = end - start
        if size <= WIDTH:
            continue
        cell = WIDTH
        while cell * WIDTH < size:
            cell *= WIDTH
        middle = start + ((size + cell - 1) // cell // 2) * cell
        k = _dimension_of_cut(order, keys, start, end, turn)
        _select(order, keys, start, end, middle, k)
        stack[top, 0], stack[top, 1], stack[top, 2] = start, middle, k + 1
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = middle, end, k + 1
        top += 2


@njit(cache=True)
def _box_points(index, into, lane, group):
    """The box around a group of points, and its youngest row."""
    for k in range(index.points.shape[1]):
        low, high = np.inf, -np.inf
        for i in range(WIDTH):
            low = index.points[group, k, i] if index.points[group, k, i] < low else low
            high = index.points[group, k, i] if index.points[group, k, i] > high else high
        index.low[into, k, lane] = low
        index.high[into, k, lane] = high
    youngest = index.row_of[group * WIDTH]
    for slot in range(group * WIDTH + 1, (group + 1) * WIDTH):
        youngest = max(youngest, index.row_of[slot])
    index.young[into, lane] = youngest


@njit(cache=True)
def _box_boxes(index, into, lane, group):
    """The box around a group of boxes, and its youngest row."""
    for k in range(index.low.shape[1]):
        low, high = np.inf, -np.inf
        for i in range(WIDTH):
            low = index.low[group, k, i] if index.low[group, k, i] < low else low
            high = index.high[group, k, i] if index.high[group, k, i] > high else high
        index.low[into, k, lane] = low
        index.high[into, k, lane] = high
    youngest = index.young[group, 0]
    for i in range(1, WIDTH):
        youngest = max(youngest, index.young[group, i])
    index.young[into, lane] = youngest


@njit(cache=True)
def _box_levels(index, tree, groups, inner):
    """Builds the levels above the points of a tree, from inner group `inner` on."""
    trees = index.trees
    level, below = 0, groups
    while below > 1 or level == 0:
        trees[tree, BASE + level + 1] = inner
        above = (below + WIDTH - 1) // WIDTH
        for i in range(above * WIDTH):
            into, lane = inner + i // WIDTH, i % WIDTH
            if i >= below:
                for k in range(index.low.shape[1]):
                    index.low[into, k, lane] = np.nan
                    index.high[into, k, lane] = np.nan
                index.young[into, lane] = -1
            elif level == 0:
                _box_points(index, into, lane, trees[tree, BASE] + i)
            else:
                _box_boxes(index, into, lane, trees[tree, BASE + level] + i)
        level += 1
        inner += above
        below = above
    trees[tree, TREE_LEVELS] = level


@njit(cache=True)
def pack(members, index, tree):
    """Packs the slots of `tree`, of all younger trees and of the overflow into one tree. O(m log m) for m slots."""
    meta, trees, points, row_of = members.meta, index.trees, index.points, index.row_of
    keys, order, found = index.keys, index.order, index.found
    start = meta[OPEN] if tree == meta[TREES] else trees[tree, BASE] * WIDTH
    dims = points.shape[1]
    live = np.int64(0)  # typed, or numba would compile everything below once more for the constant 0
    for slot in range(start, meta[TAIL]):
        group, lane = slot // WIDTH, slot % WIDTH
        if not np.isnan(points[group, 0, lane]):
            for k in range(dims):
                keys[live, k] = points[group, k, lane]
            found[live] = row_of[slot]
            order[live] = live
            live += 1
    _sort_into_cells(order, keys, live, index.stack)
    groups = (live + WIDTH - 1) // WIDTH
    for i in range(groups * WIDTH):
        slot = start + i
        group, lane = slot // WIDTH, slot % WIDTH
        if i < live:
            for k in range(dims):
                points[group, k, lane] = keys[order[i], k]
            row_of[slot] = found[order[i]]
            members.rows[found[order[i]], SLOT] = slot
        else:
            for k in range(dims):
                points[group, k, lane] = np.nan
            row_of[slot] = -1
    meta[OPEN] = start + groups * WIDTH
    meta[TAIL] = meta[OPEN]
    meta[TREES] = tree
    if live > 0:
        inner = 0 if tree == 0 else trees[tree - 1, BASE + trees[tree - 1, TREE_LEVELS]] + 1
        trees[tree, BASE] = start // WIDTH
        trees[tree, TREE_LIVE] = live
        trees[tree, TREE_GROUPS] = groups
        _box_levels(index, tree, groups, inner)
        meta[TREES] = tree + 1


@njit(cache=True)
def pack_overflow(members, index):
    """Turns the full overflow into a tree, together with the trees from the oldest one that has grown too small.

    Afterwards every tree holds at least as many live elements as all younger ones together, so there are O(log R) of
    them, and an element is packed O(log R) times at most: each time its tree has doubled, or half of it has died.
    """
    meta, trees = members.meta, index.trees
    younger = 0
    for slot in range(meta[OPEN], meta[TAIL]):
        younger += not np.isnan(index.points[slot // WIDTH, 0, slot % WIDTH])
    merged = meta[TREES]
    for tree in range(meta[TREES] - 1, -1, -1):
        if trees[tree, TREE_LIVE] < younger:
            merged = tree
        younger += trees[tree, TREE_LIVE]
    pack(members, index, merged)
