# mypy: ignore-errors
"""The index over the roots of each group: is x dominated by a root, and which roots does x dominate?

A group with few roots keeps them in a ring, linked through NEXT and PREV of `nodes`. A group with more has a tree: an
R-tree of nodes with up to sixteen entries, all leaves at one level, each node laid out so that one instruction compares
a coordinate of all entries (lanes_kernels). Nodes of all trees share one pool.

lows, highs   (capacity, d, 16): corners of the entries of a node; of a leaf, whose entries are points, only lows
entries       (capacity, 16) int32: child nodes, or slots of roots in a leaf
info          (capacity, 4) int32: node above or -1, number of entries, level (0: leaf), entry that last led to a find
weights       (capacity, d): at the top of a tree, one over its extent by dimension, so that units do not matter
used          (2,) int64: nodes ever used, first free node or -1; free nodes are chained through UP

groups (ids, 3) int32 has by group the number of roots, 1 + a root of the ring, 1 + the top node; 0 means none. Of a
root, PARENT in `nodes` is -1 in a ring, and -2 - leaf in a tree.

Changing a tree costs O(16 d) per level; a search visits what its corners cannot rule out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from skyline.dominance_kernels import dominates
from skyline.live.lanes_kernels import LANES, lanes_at_least, lanes_at_most, lowest_lane

PARENT, CHILD, NEXT, PREV, FAN, LATELY = 2, 3, 4, 5, 6, 7
"""Columns of `nodes`, after those of objects.py: parent, first child, ring of siblings, number of children, and how
many of them came lately (see links_kernels)."""

COUNT, RING, TOP = 0, 1, 2
UP, SIZE, LEVEL, HOT = 0, 1, 2, 3
USED, FREE = 0, 1

RING_LIMIT = 8
"""Most roots that a ring holds: a node takes 1.4 KB at 5 dimensions, too much for each of a million small groups."""
SPARSE = LANES // 4
"""A node with so few entries looks for a neighbour to join."""
JOINED = 3 * LANES // 4
"""Two nodes join only if the result has room left, so that they do not split again at once."""
STACK = 16 * LANES
"""Entries of the search stack: at most 15 per level, and there are less than 12 levels of at least 8."""


class Trees(NamedTuple):
    lows: np.ndarray
    highs: np.ndarray
    entries: np.ndarray
    info: np.ndarray
    weights: np.ndarray
    used: np.ndarray


@njit(cache=True)
def room_for(trees, groups, group, roots):
    """How many nodes the pool must have left for so many more roots in the group.

    A root splits at most one node per level, and one more makes a new top. Many roots split fewer: let a node of s
    entries have max(0, s - 8) tokens. A split takes 8 tokens away, and every new entry, a root's or a split's, brings
    at most one; so 8 splits <= 8 nodes + roots + splits.
    """
    levels = trees.info[groups[group, TOP] - 1, LEVEL] + 1 if groups[group, TOP] > 0 else 0
    return min(roots * (levels + 2), (8 * trees.used[USED] + roots) // 7 + levels + 2)


@njit(cache=True)
def find_dominator(trees, groups, group, nodes, points, x, stack):
    """A root of the group that dominates x, or -1."""
    if groups[group, TOP] == 0:
        return _find_in_ring(groups[group, RING] - 1, nodes, points, x)
    stack[0] = groups[group, TOP] - 1
    depth = 1
    d = points.shape[1]
    while depth > 0:
        depth -= 1
        node = stack[depth]
        mask = (1 << trees.info[node, SIZE]) - 1
        for k in range(d):
            mask &= lanes_at_most(trees.lows, (node * d + k) * LANES, points[x, k])
            if mask == 0:
                break
        if trees.info[node, LEVEL] > 0:
            hot = trees.info[node, HOT]
            first = mask & (1 << hot)
            mask ^= first
            while mask:
                lane = lowest_lane(mask)
                mask &= mask - 1
                if _differs(trees.lows, node, lane, points, x):
                    stack[depth] = trees.entries[node, lane]
                    depth += 1
            if first and _differs(trees.lows, node, hot, points, x):
                stack[depth] = trees.entries[node, hot]
                depth += 1
            continue
        while mask:
            slot = trees.entries[node, lowest_lane(mask)]
            mask &= mask - 1
            if dominates(points, slot, points, x):
                _remember(trees, node)
                return slot
    return -1


@njit(cache=True)
def _find_in_ring(first, nodes, points, x):
    if first < 0:
        return -1
    slot = first
    while True:
        if dominates(points, slot, points, x):
            return slot
        slot = nodes[slot, NEXT]
        if slot == first:
            return -1


@njit(cache=True)
def _remember(trees, node):
    """Lets the next search go first where this one ended."""
    up = trees.info[node, UP]
    while up >= 0:
        if trees.entries[up, trees.info[up, HOT]] != node:
            trees.info[up, HOT] = _lane_of(trees, up, node)
        node = up
        up = trees.info[node, UP]


@njit(cache=True)
def find_dominated(trees, groups, group, nodes, points, x, stack, out):
    """Lists the roots of the group that x dominates in `out`, and gives their number."""
    found = 0
    if groups[group, TOP] == 0:
        slot = first = groups[group, RING] - 1
        while slot >= 0:
            if dominates(points, x, points, slot):
                out[found] = slot
                found += 1
            slot = nodes[slot, NEXT]
            if slot == first:
                break
        return found
    stack[0] = groups[group, TOP] - 1
    depth = 1
    d = points.shape[1]
    while depth > 0:
        depth -= 1
        node = stack[depth]
        leaf = trees.info[node, LEVEL] == 0
        corners = trees.lows if leaf else trees.highs
        mask = (1 << trees.info[node, SIZE]) - 1
        for k in range(d):
            mask &= lanes_at_least(corners, (node * d + k) * LANES, points[x, k])
            if mask == 0:
                break
        while mask:
            lane = lowest_lane(mask)
            mask &= mask - 1
            entry = trees.entries[node, lane]
            if not leaf:
                if _differs(trees.highs, node, lane, points, x):
                    stack[depth] = entry
                    depth += 1
            elif dominates(points, x, points, entry):
                out[found] = entry
                found += 1
    return found


@njit(cache=True)
def _differs(corners, node, lane, points, x):
    """Whether a corner is not x itself: what lies on the far side of an equal one neither dominates x nor the reverse.

    So that thousands of equal members, which are never in each other's way, are not compared one by one.
    """
    for k in range(points.shape[1]):  # noqa: SIM110 (numba compiles loops only)
        if corners[node, k, lane] != points[x, k]:
            return True
    return False


@njit(cache=True)
def add_root(trees, groups, group, nodes, points, x):
    """Makes x a root of the group. The pool has room, see `room_for`."""
    groups[group, COUNT] += 1
    if groups[group, TOP] == 0:
        if groups[group, COUNT] <= RING_LIMIT:
            _join_ring(groups, group, nodes, x)
            return
        _tree_of_ring(trees, groups, group, nodes, points)
    _add_to_tree(trees, groups, group, nodes, points, x)


@njit(cache=True)
def remove_root(trees, groups, group, nodes, points, x):
    """x is a root of the group no longer."""
    groups[group, COUNT] -= 1
    if nodes[x, PARENT] == -1:
        if nodes[x, NEXT] == x:
            groups[group, RING] = 0
        else:
            _leave_ring(groups, group, nodes, x)
        return
    _remove_from_tree(trees, groups, group, nodes, x)
    top = groups[group, TOP] - 1
    if groups[group, COUNT] <= RING_LIMIT // 2 and trees.info[top, LEVEL] == 0:
        for lane in range(trees.info[top, SIZE]):
            _join_ring(groups, group, nodes, trees.entries[top, lane])
        _free_node(trees, top)
        groups[group, TOP] = 0


@njit(cache=True)
def _join_ring(groups, group, nodes, x):
    first = groups[group, RING] - 1
    nodes[x, PARENT] = -1
    if first < 0:
        groups[group, RING] = x + 1
        nodes[x, NEXT] = nodes[x, PREV] = x
        return
    last = nodes[first, PREV]
    nodes[x, PREV], nodes[x, NEXT] = last, first
    nodes[last, NEXT] = nodes[first, PREV] = x


@njit(cache=True)
def _leave_ring(groups, group, nodes, x):
    before, after = nodes[x, PREV], nodes[x, NEXT]
    nodes[before, NEXT], nodes[after, PREV] = after, before
    if groups[group, RING] == x + 1:
        groups[group, RING] = after + 1


@njit(cache=True)
def _tree_of_ring(trees, groups, group, nodes, points):
    """Moves a full ring into a tree of one leaf."""
    leaf = _new_node(trees, 0)
    slot = first = groups[group, RING] - 1
    while True:
        after = nodes[slot, NEXT]
        _add_point(trees, leaf, nodes, points, slot)
        slot = after
        if slot == first:
            break
    groups[group, RING] = 0
    groups[group, TOP] = leaf + 1


@njit(cache=True)
def _new_node(trees, level):
    node = trees.used[FREE]
    if node >= 0:
        trees.used[FREE] = trees.info[node, UP]
    else:
        node = trees.used[USED]
        trees.used[USED] += 1
    trees.info[node, UP], trees.info[node, SIZE] = -1, 0
    trees.info[node, LEVEL], trees.info[node, HOT] = level, 0
    return node


@njit(cache=True)
def _free_node(trees, node):
    trees.info[node, UP] = trees.used[FREE]
    trees.used[FREE] = node


@njit(cache=True)
def _lane_of(trees, node, entry):
    lane = 0
    while trees.entries[node, lane] != entry:
        lane += 1
    return lane


@njit(cache=True)
def _add_point(trees, leaf, nodes, points, slot):
    lane = trees.info[leaf, SIZE]
    trees.info[leaf, SIZE] += 1
    trees.entries[leaf, lane] = slot
    trees.lows[leaf, :, lane] = points[slot]
    nodes[slot, PARENT] = -2 - leaf


@njit(cache=True)
def _move_lane(trees, nodes, source, lane, target, place):
    """Copies an entry of one node over a lane of another, or of the same."""
    entry = trees.entries[source, lane]
    trees.entries[target, place] = entry
    for k in range(trees.lows.shape[1]):
        trees.lows[target, k, place] = trees.lows[source, k, lane]
    if trees.info[source, LEVEL] == 0:
        nodes[entry, PARENT] = -2 - target
    else:
        for k in range(trees.lows.shape[1]):
            trees.highs[target, k, place] = trees.highs[source, k, lane]
        trees.info[entry, UP] = target


@njit(cache=True)
def _drop_lane(trees, nodes, node, lane):
    """Takes an entry out of a node; the last one takes its place."""
    last = trees.info[node, SIZE] - 1
    trees.info[node, SIZE] = last
    if lane != last:
        _move_lane(trees, nodes, node, last, node, lane)
    if trees.info[node, HOT] >= last:
        trees.info[node, HOT] = 0


@njit(cache=True)
def _bound(trees, node, up, lane):
    """Sets the corners of an entry to those of the node below; gives whether they changed."""
    highs = trees.lows if trees.info[node, LEVEL] == 0 else trees.highs
    size = trees.info[node, SIZE]
    changed = False
    for k in range(trees.lows.shape[1]):
        low, high = trees.lows[node, k, 0], highs[node, k, 0]
        for j in range(1, size):
            low = min(low, trees.lows[node, k, j])
            high = max(high, highs[node, k, j])
        changed |= low != trees.lows[up, k, lane] or high != trees.highs[up, k, lane]
        trees.lows[up, k, lane] = low
        trees.highs[up, k, lane] = high
    return changed


@njit(cache=True)
def _add_child(trees, up, child):
    lane = trees.info[up, SIZE]
    trees.info[up, SIZE] += 1
    trees.entries[up, lane] = child
    trees.info[child, UP] = up
    _bound(trees, child, up, lane)


@njit(cache=True)
def _add_to_tree(trees, groups, group, nodes, points, x):
    """Descends to the leaf that grows least, splitting full nodes on the way down, so that there is always room."""
    node = groups[group, TOP] - 1
    if trees.info[node, SIZE] == LANES:
        top = _new_node(trees, trees.info[node, LEVEL] + 1)
        _weigh(trees, node, top)
        _add_child(trees, top, node)
        groups[group, TOP] = top + 1
        _split(trees, nodes, top, 0, top)
        node = top
    top = node
    while trees.info[node, LEVEL] > 0:
        lane, least = 0, np.inf
        for other in range(trees.info[node, SIZE]):
            growth = _growth(trees, node, other, points, x, top)
            smaller = growth == least and _margin(trees, node, other, top) < _margin(trees, node, lane, top)
            if growth < least or smaller:
                lane, least = other, growth
        if trees.info[trees.entries[node, lane], SIZE] == LANES:
            _weigh(trees, top, top)
            _split(trees, nodes, node, lane, top)
            half = trees.info[node, SIZE] - 1
            if _growth(trees, node, half, points, x, top) < _growth(trees, node, lane, points, x, top):
                lane = half
        for k in range(points.shape[1]):
            trees.lows[node, k, lane] = min(trees.lows[node, k, lane], points[x, k])
            trees.highs[node, k, lane] = max(trees.highs[node, k, lane], points[x, k])
        node = trees.entries[node, lane]
    _add_point(trees, node, nodes, points, x)


@njit(cache=True)
def _weigh(trees, node, top):
    """Sets the weights of a tree from the extent of its node; an extent that is nothing or infinite counts nothing."""
    highs = trees.lows if trees.info[node, LEVEL] == 0 else trees.highs
    for k in range(trees.lows.shape[1]):
        low, high = trees.lows[node, k, 0], highs[node, k, 0]
        for j in range(1, trees.info[node, SIZE]):
            low = min(low, trees.lows[node, k, j])
            high = max(high, highs[node, k, j])
        extent = high - low if high > low else 0.0
        trees.weights[top, k] = 1.0 / extent if 0.0 < extent < np.inf else 0.0


@njit(cache=True)
def _growth(trees, node, lane, points, x, top):
    """How far x lies outside of an entry, in weighted L1 distance."""
    growth = 0.0
    for k in range(points.shape[1]):
        if trees.weights[top, k] > 0.0:
            if points[x, k] < trees.lows[node, k, lane]:
                growth += (trees.lows[node, k, lane] - points[x, k]) * trees.weights[top, k]
            elif points[x, k] > trees.highs[node, k, lane]:
                growth += (points[x, k] - trees.highs[node, k, lane]) * trees.weights[top, k]
    return growth


@njit(cache=True)
def _margin(trees, node, lane, top):
    """The weighted extent of an entry: of several that x lies in, the smallest keeps what is equal together."""
    margin = 0.0
    for k in range(trees.lows.shape[1]):
        if trees.weights[top, k] > 0.0:
            margin += (trees.highs[node, k, lane] - trees.lows[node, k, lane]) * trees.weights[top, k]
    return margin


@njit(cache=True)
def _split(trees, nodes, up, lane, top):
    """Splits the full node below an entry in two, at the median of the dimension in which it is widest."""
    node = trees.entries[up, lane]
    widest, width = 0, -1.0
    for k in range(trees.lows.shape[1]):
        extent = (trees.highs[up, k, lane] - trees.lows[up, k, lane]) * trees.weights[top, k]
        if extent > width:
            widest, width = k, extent
    order = np.argsort(trees.lows[node, widest])
    other = _new_node(trees, trees.info[node, LEVEL])
    upper = 0
    for i in range(LANES // 2, LANES):
        upper |= 1 << order[i]
    stay = 0
    for j in range(LANES):
        if upper >> j & 1:
            _move_lane(trees, nodes, node, j, other, trees.info[other, SIZE])
            trees.info[other, SIZE] += 1
        else:
            if stay != j:
                _move_lane(trees, nodes, node, j, node, stay)
            stay += 1
    trees.info[node, SIZE] = stay
    trees.info[node, HOT] = 0
    _bound(trees, node, up, lane)
    _add_child(trees, up, other)


@njit(cache=True)
def _remove_from_tree(trees, groups, group, nodes, x):
    """Takes x out of its leaf, then tightens corners, joins sparse nodes and drops empty ones on the way up."""
    node = -2 - nodes[x, PARENT]
    _drop_lane(trees, nodes, node, _lane_of(trees, node, x))
    up = trees.info[node, UP]
    while up >= 0:
        lane = _lane_of(trees, up, node)
        size = trees.info[node, SIZE]
        if size <= SPARSE and (size == 0 or _join(trees, nodes, up, lane)):
            _free_node(trees, node)
            _drop_lane(trees, nodes, up, lane)
        elif not _bound(trees, node, up, lane):
            break
        node = up
        up = trees.info[node, UP]
    _lower_top(trees, groups, group)


@njit(cache=True)
def _join(trees, nodes, up, lane):
    """Moves the entries of a sparse node to a neighbour that has room; gives whether there is one."""
    node = trees.entries[up, lane]
    size = trees.info[node, SIZE]
    for j in range(trees.info[up, SIZE]):
        other = trees.entries[up, j]
        if j != lane and trees.info[other, SIZE] + size <= JOINED:
            for i in range(size):
                _move_lane(trees, nodes, node, i, other, trees.info[other, SIZE])
                trees.info[other, SIZE] += 1
            _bound(trees, other, up, j)
            return True
    return False


@njit(cache=True)
def _lower_top(trees, groups, group):
    """A top with a single child gives way to it; one without entries goes."""
    top = groups[group, TOP] - 1
    weighed = top
    while trees.info[top, LEVEL] > 0 and trees.info[top, SIZE] == 1:
        child = trees.entries[top, 0]
        trees.weights[child] = trees.weights[weighed]
        _free_node(trees, top)
        trees.info[child, UP] = -1
        top = child
        weighed = child
    groups[group, TOP] = top + 1
