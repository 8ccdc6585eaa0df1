# mypy: ignore-errors
# ruff: noqa: SIM110 (numba compiles loops, but no any() or all() over a generator)
"""Insertion and deletion in a bucket quadtree, in d dimensions a 2^d-tree, held as a tree of blocks.

Below an inner node lie at least two children, at most one per orthant of its cell. A child is a leaf, which owns the
whole orthant, or an inner node with a cell of its own in it: chains of nodes with one child are left out, so the depth
depends on how the objects lie among themselves and not on how far they are from the origin. A cell is dyadic: its
width is a power of two, its bounds are multiples of it. Only the cell of everything has its centre at the origin.

A node is a chain of blocks of which only the first may have room. `state` holds the root (-1: none), the first free
block (linked by `next`), the number of free blocks, and the end of the blocks ever used.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ROOT, FREE, SPARE, END = 0, 1, 2, 3
_NARROWEST = 2.0**-200
"""Cells are not cut any further; objects that differ by less share a leaf."""
_ALL = np.inf
"""Width of the cell of everything."""
_DEEPEST = 512
"""More than the number of cell widths there are: from `_NARROWEST` to 2^61, and `_ALL`."""


@njit(cache=True)
def insert(quad, state, slot, place):
    """Adds a slot at place (d,); False if the arrays must grow first. O(depth (d + 2^d))."""
    if state[SPARE] < 4:
        return False
    block, entry, node = -1, -1, state[ROOT]
    if node < 0:
        state[ROOT] = _new_leaf(quad, state, slot, place)
        return True
    while not quad.leaf[node]:
        if not _in_cell(quad, node, place):
            _hang(quad, state, _wider(quad, state, node, place), block, entry, node)
            return _add_leaf(quad, state, state[ROOT] if block < 0 else quad.ids[block, entry], slot, place)
        block, entry = _child(quad, node, _orthant(quad, node, place))
        if block < 0:
            return _add_leaf(quad, state, node, slot, place)
        node = quad.ids[block, entry]
        _widen(quad, block, entry, place)
    if quad.used[node] < quad.ids.shape[1]:
        _append(quad, state, node, slot, place, place)
        return True
    return _split(quad, state, block, entry, node, slot, place)


@njit(cache=True)
def delete(quad, state, slot, place):
    """Removes a slot from place (d,); False if it is not there. O(depth (d + 2^d))."""
    blocks, entries = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST, np.int64)
    depth, node = 0, state[ROOT]
    while node >= 0 and not quad.leaf[node]:
        block, entry = _child(quad, node, _orthant(quad, node, place))
        if block < 0:
            return False
        blocks[depth], entries[depth] = block, entry
        depth += 1
        node = quad.ids[block, entry]
    if not _remove(quad, state, node, slot):
        return False
    if quad.used[node] == 0:
        depth = _prune(quad, state, blocks, entries, depth, node)
    while depth > 0 and _tighten(quad, blocks[depth - 1], entries[depth - 1]):
        depth -= 1
    return True


@njit(cache=True)
def _prune(quad, state, blocks, entries, depth, leaf):
    """Removes an empty leaf, and its parent if one child is left; gives the depth up to which boxes may shrink."""
    if depth == 0:
        _free(quad, state, leaf)
        state[ROOT] = -1
        return 0
    depth -= 1
    parent = state[ROOT] if depth == 0 else quad.ids[blocks[depth - 1], entries[depth - 1]]
    _remove(quad, state, parent, leaf)
    _free(quad, state, leaf)
    if quad.used[parent] == 1 and quad.next[parent] < 0:
        child = quad.ids[parent, 0]
        block, entry = (-1, -1) if depth == 0 else (blocks[depth - 1], entries[depth - 1])
        quad.orthant[child] = quad.orthant[parent]
        _hang(quad, state, child, block, entry, parent)
        _free(quad, state, parent)
    return depth


@njit(cache=True)
def _split(quad, state, block, entry, leaf, slot, place):
    """Adds a slot to a full leaf: cuts it at the smallest cell that holds all; if they are too close, chains a block.

    False if the arrays must grow first.
    """
    low, high = place.copy(), place.copy()
    _cover(quad, leaf, low, high)
    if (high - low).max() < _NARROWEST:
        _append(quad, state, leaf, slot, place, place)
        return True
    links, link = 0, leaf
    while link >= 0:
        links += 1
        link = quad.next[link]
    if state[SPARE] < links + quad.ids.shape[1] + 8:
        return False
    node = _new_inner(quad, state, low, _cell(low, high, _NARROWEST))
    _hang(quad, state, node, block, entry, leaf)
    quad.orthant[node] = quad.orthant[leaf]
    _put(quad, state, node, slot, place)
    link = leaf
    while link >= 0:
        for e in range(quad.used[link]):
            _put(quad, state, node, quad.ids[link, e], quad.low[link, e])
        after = quad.next[link]
        _free(quad, state, link)
        link = after
    return True


@njit(cache=True)
def _put(quad, state, node, slot, place):
    """Adds a slot to the leaf in its orthant of an inner node all of whose children are leaves."""
    block, entry = _child(quad, node, _orthant(quad, node, place))
    if block < 0:
        _add_leaf(quad, state, node, slot, place)
    else:
        _append(quad, state, quad.ids[block, entry], slot, place, place)
        _widen(quad, block, entry, place)


@njit(cache=True)
def _wider(quad, state, node, place):
    """A new inner node with the smallest cell that holds this node's cell and the place; the node is its child."""
    centre = quad.centre[node]
    cell = _cell(np.minimum(centre, place), np.maximum(centre, place), 2.0 * quad.width[node])
    wider = _new_inner(quad, state, centre, cell)
    low, high = np.full(len(place), np.inf), np.full(len(place), -np.inf)
    _cover(quad, node, low, high)
    quad.orthant[wider] = quad.orthant[node]
    quad.orthant[node] = _orthant(quad, wider, centre)
    _append(quad, state, wider, node, low, high)
    return wider


@njit(cache=True)
def _cell(low, high, narrowest):
    """Width of the smallest cell, not below `narrowest`, that holds both corners. O(d) per width tried."""
    extent = 0.0
    for k in range(len(low)):
        if low[k] < 0.0 <= high[k]:
            return _ALL
        extent = max(extent, high[k] - low[k])
    width = narrowest
    while width < extent:
        width *= 2.0
    k = 0
    while k < len(low):
        if _number(low[k], width) == _number(high[k], width):
            k += 1
        else:
            width *= 2.0
            k = 0
    return width


@njit(cache=True)
def _number(value, width):
    """Which of the intervals of this width, counted from the origin, holds the value."""
    number = np.floor(value / width)
    return -1.0 if value < 0.0 and number == 0.0 else number  # the quotient may vanish


@njit(cache=True)
def _middle(number, width):
    """The middle of an interval; its lower end, if floats are too coarse there to have any other value in it."""
    middle = (number + 0.5) * width
    return middle if _number(middle, width) == number else number * width


@njit(cache=True)
def _in_cell(quad, node, place):
    width = quad.width[node]
    if width == _ALL:
        return True
    for k in range(len(place)):
        if _number(place[k], width) != _number(quad.centre[node, k], width):
            return False
    return True


@njit(cache=True)
def _orthant(quad, node, place):
    """The orthant of the node's cell in which the place lies: one bit per dimension."""
    orthant = 0
    for k in range(len(place)):
        orthant = 2 * orthant + (1 if place[k] >= quad.centre[node, k] else 0)
    return orthant


@njit(cache=True)
def _child(quad, node, orthant):
    """Block and entry of the node's child in this orthant, or -1, -1."""
    while node >= 0:
        for e in range(quad.used[node]):
            if quad.orthant[quad.ids[node, e]] == orthant:
                return node, e
        node = quad.next[node]
    return -1, -1


@njit(cache=True)
def _hang(quad, state, node, block, entry, instead):
    """Puts a node where another one hangs: at an entry, or at the root."""
    if state[ROOT] == instead:
        state[ROOT] = node
    else:
        quad.ids[block, entry] = node


@njit(cache=True)
def _new_inner(quad, state, place, width):
    """An inner node without children whose cell, of this width, holds the place."""
    node = _allocate(quad, state)
    quad.leaf[node] = False
    quad.width[node] = width
    for k in range(len(place)):
        quad.centre[node, k] = 0.0 if width == _ALL else _middle(_number(place[k], width), width)
    return node


@njit(cache=True)
def _new_leaf(quad, state, slot, place):
    leaf = _allocate(quad, state)
    quad.leaf[leaf] = True
    _append(quad, state, leaf, slot, place, place)
    return leaf


@njit(cache=True)
def _add_leaf(quad, state, node, slot, place):
    leaf = _new_leaf(quad, state, slot, place)
    quad.orthant[leaf] = _orthant(quad, node, place)
    _append(quad, state, node, leaf, place, place)
    return True


@njit(cache=True)
def _append(quad, state, node, ref, low, high):
    """Adds an entry to a node."""
    if quad.used[node] == quad.ids.shape[1]:
        link = _allocate(quad, state)
        quad.leaf[link] = quad.leaf[node]
        _copy(quad, node, link)
        quad.next[link] = quad.next[node]
        quad.next[node] = link
        quad.used[node] = 0
    e = quad.used[node]
    quad.ids[node, e] = ref
    quad.low[node, e] = low
    quad.high[node, e] = high
    quad.used[node] = e + 1


@njit(cache=True)
def _remove(quad, state, node, ref):
    """Removes an entry from a node, which may be left empty; False if it has no such entry."""
    block = node
    while block >= 0:
        for e in range(quad.used[block]):
            if quad.ids[block, e] == ref:
                last = quad.used[node] - 1
                quad.ids[block, e] = quad.ids[node, last]
                quad.low[block, e] = quad.low[node, last]
                quad.high[block, e] = quad.high[node, last]
                quad.used[node] = last
                if last == 0 and quad.next[node] >= 0:
                    link = quad.next[node]
                    _copy(quad, link, node)
                    quad.next[node] = quad.next[link]
                    _free(quad, state, link)
                return True
        block = quad.next[block]
    return False


@njit(cache=True)
def _copy(quad, source, target):
    quad.ids[target] = quad.ids[source]
    quad.low[target] = quad.low[source]
    quad.high[target] = quad.high[source]
    quad.used[target] = quad.used[source]


@njit(cache=True)
def _widen(quad, block, entry, place):
    for k in range(len(place)):
        quad.low[block, entry, k] = min(quad.low[block, entry, k], place[k])
        quad.high[block, entry, k] = max(quad.high[block, entry, k], place[k])


@njit(cache=True)
def _cover(quad, node, low, high):
    """Widens the box from low (d,) to high (d,) so that it holds the whole node."""
    while node >= 0:
        for e in range(quad.used[node]):
            for k in range(len(low)):
                low[k] = min(low[k], quad.low[node, e, k])
                high[k] = max(high[k], quad.high[node, e, k])
        node = quad.next[node]


@njit(cache=True)
def _tighten(quad, block, entry):
    """Makes an entry's box the one of what lies below; whether it changed."""
    dims = quad.low.shape[2]
    low, high = np.full(dims, np.inf), np.full(dims, -np.inf)
    _cover(quad, quad.ids[block, entry], low, high)
    changed = False
    for k in range(dims):
        if low[k] != quad.low[block, entry, k] or high[k] != quad.high[block, entry, k]:
            changed = True
            quad.low[block, entry, k], quad.high[block, entry, k] = low[k], high[k]
    return changed


@njit(cache=True)
def _allocate(quad, state):
    block = state[FREE]
    if block >= 0:
        state[FREE] = quad.next[block]
    else:
        block = state[END]
        state[END] += 1
    state[SPARE] -= 1
    quad.next[block] = -1
    quad.used[block] = 0
    return block


@njit(cache=True)
def _free(quad, state, block):
    quad.next[block] = state[FREE]
    state[FREE] = block
    state[SPARE] += 1
