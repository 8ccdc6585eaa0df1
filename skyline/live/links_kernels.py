# mypy: ignore-errors
"""Parents and children: each node names one child, and siblings form a ring through NEXT and PREV."""

from __future__ import annotations

from numba import njit

from skyline.dominance_kernels import dominates
from skyline.live.roots_kernels import CHILD, FAN, NEXT, PARENT, PREV

FEW = 64
"""A parent with fewer children takes another without looking for a better place."""
TRIES = 4
"""Children that are tried on each level."""
STEPS = 8
"""Levels that an object sinks at most when it is attached, and climbs at most before the roots are searched."""


@njit(cache=True)
def attach(nodes, points, parent, x):
    """Makes x a child of `parent`, which dominates it, or of one below that also does. O(d), whatever the fan-out.

    A node with many children passes x on to a child that dominates it, if one of the next few in the ring does: this is
    what keeps fan-out in check. The child found is tried first next time, as what dominated one thing will dominate
    others; after a failure the ring turns, and others get their chance.
    """
    for _ in range(STEPS):
        if nodes[parent, FAN] < FEW:
            break
        child = nodes[parent, CHILD]
        found = False
        for _ in range(TRIES):
            if dominates(points, child, points, x):
                found = True
                break
            child = nodes[child, NEXT]
        nodes[parent, CHILD] = child
        if not found:
            break
        parent = child
    link(nodes, parent, x)


@njit(cache=True)
def link(nodes, parent, x):
    first = nodes[parent, CHILD]
    nodes[x, PARENT] = parent
    nodes[parent, FAN] += 1
    if first < 0:
        nodes[parent, CHILD] = x
        nodes[x, NEXT] = nodes[x, PREV] = x
        return
    last = nodes[first, PREV]
    nodes[x, PREV], nodes[x, NEXT] = last, first
    nodes[last, NEXT] = nodes[first, PREV] = x


@njit(cache=True)
def unlink(nodes, x):
    """x has no parent any more."""
    parent = nodes[x, PARENT]
    before, after = nodes[x, PREV], nodes[x, NEXT]
    nodes[parent, FAN] -= 1
    if after == x:
        nodes[parent, CHILD] = -1
        return
    nodes[before, NEXT], nodes[after, PREV] = after, before
    if nodes[parent, CHILD] == x:
        nodes[parent, CHILD] = after


@njit(cache=True)
def release_children(nodes, points, x, all_of_them, out):
    """Unlinks the children of x, or those that it no longer dominates; lists them in `out`, gives their number."""
    released = 0
    child = nodes[x, CHILD]
    for _ in range(nodes[x, FAN]):
        after = nodes[child, NEXT]
        if all_of_them or not dominates(points, x, points, child):
            unlink(nodes, child)
            out[released] = child
            released += 1
        child = after
    return released


@njit(cache=True)
def dominating_ancestor(nodes, points, parent, x):
    """The first above `parent` that dominates x, or -1. Moves are small, mostly, and ancestors dominate more."""
    for _ in range(STEPS):
        parent = nodes[parent, PARENT]
        if parent < 0:
            return -1
        if dominates(points, parent, points, x):
            return parent
    return -1
