"""Asserts what must hold in a dominance forest. Slow, and written for reading."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyline.live.engine import dominating
from skyline.live.keys import Keys
from skyline.live.objects import ABSENT, DOMINATED, GROUP, MEMBER, STATUS, WAITING
from skyline.live.roots_kernels import (
    CHILD,
    COUNT,
    FAN,
    FREE,
    LEVEL,
    NEXT,
    PARENT,
    PREV,
    RING,
    RING_LIMIT,
    SIZE,
    TOP,
    UP,
    USED,
)
from skyline.view import NEVER


def check_forest(table: Any, trees: Any, keys: Keys) -> None:
    """`table` and `trees` are those of the kernels."""
    _check_links(table)
    _check_roots(table, trees)
    _check_due(table, keys)


def _ring(nodes: Any, first: int) -> list[int]:
    """The slots of a ring, which must be closed both ways."""
    ring, slot = [], first
    while slot >= 0:
        ring.append(slot)
        after = int(nodes[slot, NEXT])
        assert nodes[after, PREV] == slot
        slot = -1 if after == first else after
    return ring


def _check_links(table: Any) -> None:
    """Parents dominate their children, in their own group, and know them all; nothing is its own ancestor."""
    nodes, points = table.nodes, table.points
    live = np.flatnonzero(nodes[:, STATUS] >= DOMINATED).tolist()
    below = 0
    for slot in live:
        children = _ring(nodes, int(nodes[slot, CHILD]))
        assert len(children) == nodes[slot, FAN]
        below += len(children)
        for child in children:
            assert nodes[child, PARENT] == slot
            assert nodes[child, STATUS] == DOMINATED
            assert nodes[child, GROUP] == nodes[slot, GROUP]
            # a parent is strictly better somewhere, so no chain of parents can close
            assert dominating(points[slot : slot + 1], points[child]).all()
        assert (nodes[slot, PARENT] < 0) == (nodes[slot, STATUS] == MEMBER)
    assert below == int((nodes[:, STATUS] == DOMINATED).sum())


def _check_roots(table: Any, trees: Any) -> None:
    """Each group's ring or tree holds its members and nothing else, and every node of the pool is in one or free."""
    nodes = table.nodes
    in_use = 0
    members = np.flatnonzero(nodes[:, STATUS] == MEMBER)
    by_group: dict[int, set[int]] = {}
    for slot in members.tolist():
        by_group.setdefault(int(nodes[slot, GROUP]), set()).add(slot)
    for group in range(len(table.groups)):
        count, ring, top = (int(table.groups[group, column]) for column in (COUNT, RING, TOP))
        found = _ring(nodes, ring - 1)
        assert not ring or not top
        assert len(found) <= RING_LIMIT
        assert all(nodes[slot, PARENT] == -1 for slot in found)
        if top:
            assert trees.info[top - 1, UP] == -1
            found, used = _walk(table, trees, top - 1)
            in_use += used
        assert len(found) == count
        assert set(found) == by_group.get(group, set())
    free, node = 0, int(trees.used[FREE])
    while node >= 0:
        free, node = free + 1, int(trees.info[node, UP])
    assert in_use + free == trees.used[USED]


def _walk(table: Any, trees: Any, node: int) -> tuple[list[int], int]:
    """Slots and number of nodes below a node; entries lie within their corners, and the corners are tight."""
    size, level = int(trees.info[node, SIZE]), int(trees.info[node, LEVEL])
    entries = trees.entries[node, :size].tolist()
    assert size > 0
    if level == 0:
        for lane, slot in enumerate(entries):
            assert table.nodes[slot, PARENT] == -2 - node
            assert np.array_equal(trees.lows[node, :, lane], table.points[slot])
        return entries, 1
    slots, nodes = [], 1
    for lane, child in enumerate(entries):
        assert trees.info[child, UP] == node
        assert trees.info[child, LEVEL] == level - 1
        found, used = _walk(table, trees, child)
        inside = table.points[found]
        assert np.array_equal(trees.lows[node, :, lane], inside.min(axis=0))
        assert np.array_equal(trees.highs[node, :, lane], inside.max(axis=0))
        slots += found
        nodes += used
    return slots, nodes


def _check_due(table: Any, keys: Keys) -> None:
    """The heap holds each object that falls due, once, at its time, and no entry comes before the one above it."""
    nodes, size = table.nodes, int(table.due_size[0])
    names = keys.take(table.due_slots[:size])
    for place in range(size):
        slot, time = int(table.due_slots[place]), int(table.due_times[place])
        assert table.due_places[slot] == place + 1
        assert time == table.interval[slot, 0 if nodes[slot, STATUS] == WAITING else 1]
        up = (place - 1) // 4
        assert place == 0 or (int(table.due_times[up]), names[up]) < (time, names[place])
    known = nodes[:, STATUS] != ABSENT
    waits = nodes[:, STATUS] == WAITING
    due = np.where(waits, table.interval[:, 0], table.interval[:, 1])
    assert size == int((known & (due != NEVER)).sum())
    assert (table.due_places[: len(nodes)][known & (due == NEVER)] == 0).all()
