# mypy: ignore-errors
"""The dominance forest: a batch of updates in one kernel. See forest.py for what it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from skyline.dominance_kernels import dominates
from skyline.live import changes as codes
from skyline.live.due_kernels import schedule
from skyline.live.fetch_kernels import fetch_row
from skyline.live.links_kernels import attach, dominating_ancestor, link, release_children, unlink
from skyline.live.objects import ABSENT, DOMINATED, GROUP, MEMBER, STATUS, WAITING
from skyline.live.roots_kernels import (
    CHILD,
    FAN,
    LATELY,
    PARENT,
    USED,
    add_root,
    find_dominated,
    find_dominator,
    remove_root,
    room_for,
)
from skyline.live.sort_kernels import sort_slots
from skyline.view import NEVER

LEAVE, MOVE, ENTER = codes.LEAVE, codes.MOVE, codes.ENTER
INSERTED, MOVED, PROMOTED = codes.INSERTED, codes.MOVED, codes.PROMOTED
TAKEN_OVER, DELETED, EXPIRED = codes.DOMINATED, codes.DELETED, codes.EXPIRED

CLOCK, SIZE, LIVE = 0, 1, 2
"""Places in `counters`."""
ROW, OP, SLOT, REASON, BY, AT, IN_GROUP, MEMBERS = range(8)
"""Rows of the log of changes."""
SOON, LATER = 4, 8
"""How many rows ahead the relatives of an object are asked for, and the object itself. Twice as far ahead is slower."""


class Table(NamedTuple):
    """What the forest keeps by slot, by group, and in all. See objects.py, roots_kernels.py and due_kernels.py."""

    nodes: np.ndarray
    points: np.ndarray
    interval: np.ndarray
    population: np.ndarray
    groups: np.ndarray
    due_times: np.ndarray
    due_slots: np.ndarray
    due_places: np.ndarray
    due_size: np.ndarray
    counters: np.ndarray
    scratch: np.ndarray
    stack: np.ndarray


class Rows(NamedTuple):
    """The columns of engine.Batch."""

    slots: np.ndarray
    points: np.ndarray
    groups: np.ndarray
    deleted: np.ndarray
    valid_from: np.ndarray
    valid_until: np.ndarray
    at: np.ndarray
    touched: np.ndarray


@njit(cache=True)
def crown(trees, groups, group, nodes, points, x, stack, left):
    """x, which no root dominates, becomes one and adopts the roots that it dominates. Gives how many."""
    adopted = find_dominated(trees, groups, group, nodes, points, x, stack, left)
    for i in range(adopted):
        other = left[i]
        remove_root(trees, groups, group, nodes, points, other)
        nodes[other, STATUS] = DOMINATED
        link(nodes, x, other)
    add_root(trees, groups, group, nodes, points, x)
    nodes[x, STATUS] = MEMBER
    return adopted


@njit(cache=True)
def promote(trees, groups, group, nodes, points, order, orphans, n, stack, entered):
    """Finds a parent for each orphan, or makes it a root. Gives the number that entered.

    Orphans that no old root dominates are taken in lexicographic order, in which no point is dominated by a later one:
    so whether one becomes a root is decided once and for all. None of them dominates an old root, for then the root
    that left would have dominated it too.
    """
    candidates = 0
    for i in range(n):
        root = find_dominator(trees, groups, group, nodes, points, orphans[i], stack)
        if root >= 0:
            attach(nodes, points, root, orphans[i])
        else:
            entered[candidates] = orphans[i]
            candidates += 1
    sort_slots(order, points, False, entered, candidates)
    promoted = 0
    for i in range(candidates):
        orphan = entered[i]
        root = -1
        if promoted > 0:
            root = find_dominator(trees, groups, group, nodes, points, orphan, stack)
        if root >= 0:
            attach(nodes, points, root, orphan)
        else:
            add_root(trees, groups, group, nodes, points, orphan)
            nodes[orphan, STATUS] = MEMBER
            entered[promoted] = orphan
            promoted += 1
    return promoted


@njit(cache=True)
def shift(nodes, points, x, orphans):
    """x, no root, has moved within its group. Gives whether it has found its place without asking the roots.

    Children that it no longer dominates go to its parent, which dominates them, as it dominated x before.
    """
    parent = nodes[x, PARENT]
    if nodes[x, FAN] > 0:
        released = release_children(nodes, points, x, False, orphans)
        for i in range(released):
            attach(nodes, points, parent, orphans[i])
    if dominates(points, parent, points, x):
        return True
    unlink(nodes, x)
    parent = dominating_ancestor(nodes, points, parent, x)
    if parent >= 0:
        attach(nodes, points, parent, x)
    return parent >= 0


@njit(cache=True)
def withdraw(nodes, points, x, orphans):
    """Takes x, no root, out of the forest. Its children go to its parent."""
    parent = nodes[x, PARENT]
    unlink(nodes, x)
    released = release_children(nodes, points, x, True, orphans)
    for i in range(released):
        attach(nodes, points, parent, orphans[i])


@njit(cache=True)
def look_ahead(nodes, points, interval, slots, i):
    """Fetches what the rows after the i-th will read: an object, and when it is there its parent and first child."""
    if i + LATER < len(slots) and slots[i + LATER] >= 0:
        x = slots[i + LATER]
        fetch_row(nodes, x)
        fetch_row(points, x)
        fetch_row(interval, x)
    if i + SOON < len(slots) and slots[i + SOON] >= 0:
        x = slots[i + SOON]
        parent, child = np.int64(nodes[x, PARENT]), np.int64(nodes[x, CHILD])
        if parent >= 0:
            fetch_row(points, parent)
        if child >= 0:
            fetch_row(nodes, child)
            fetch_row(points, child)


@njit(cache=True)
def same_point(p, i, q, j):
    for k in range(p.shape[1]):  # noqa: SIM110 (numba compiles loops only)
        if p[i, k] != q[j, k]:
            return False
    return True


@njit(cache=True)
def _with_room(log, points, more):
    """The log of changes, enlarged if it has room for less than so many."""
    room = log.shape[1]
    if more <= room:
        return log, points
    longer = np.empty((log.shape[0], 2 * more), np.int64)
    more_points = np.empty((2 * more, points.shape[1]))
    longer[:, :room] = log
    more_points[:room] = points
    return longer, more_points


@njit(cache=True)
def _appended(array, n, value):
    """The array, longer if need be, with a value at n."""
    if n == len(array):
        longer = np.empty(2 * n, np.int64)
        longer[:n] = array
        array = longer
    array[n] = value
    return array


@njit(cache=True)
def _note(log, log_points, n, size, op, slot, reason, group, points, source):
    log[OP, n], log[SLOT, n], log[REASON, n] = op, slot, reason
    log[IN_GROUP, n], log[MEMBERS, n] = group, size
    for k in range(points.shape[1]):
        log_points[n, k] = points[source, k]


@njit(cache=True, nogil=True)
def apply(table, trees, order, rows, advance_to, first_row):
    """Applies a batch, from `first_row` on, as engine.Engine says.

    Gives the first row that is not done, the nodes that the pool of trees must have left to go on with it, the log of
    changes (8, m), its points (m, d), the slots that are gone and the groups that were emptied. The row is n + 1 when
    all is done; otherwise the caller enlarges the pool and calls again.
    """
    nodes, points, groups, stack = table.nodes, table.points, table.groups, table.stack
    left, entered, orphans = table.scratch[0], table.scratch[1], table.scratch[2]
    counters, due_times, due_slots, due_size = table.counters, table.due_times, table.due_slots, table.due_size
    n, d = rows.points.shape
    log, log_points, logged = np.empty((8, 64 + n // 8), np.int64), np.empty((64 + n // 8, d)), 0
    gone, n_gone = np.empty(16, np.int64), 0
    emptied, n_emptied = np.empty(16, np.int64), 0
    old = np.empty((1, d))
    needed = np.int64(0)
    i, applied = first_row, False

    while i <= n:
        # 1. the next update: what is due first, then the row. Without a source, the point stays what it was.
        now = rows.at[i] if i < n else advance_to
        source = np.int64(-1)
        if due_size[0] > 0 and due_times[0] <= now:
            x, at, by_itself = np.int64(due_slots[0]), due_times[0], True
            target = DOMINATED if nodes[x, STATUS] == WAITING else ABSENT
            group, reason = np.int64(nodes[x, GROUP]), EXPIRED
        elif i < n and not applied and rows.slots[i] >= 0:
            x, at, by_itself = rows.slots[i], now, False
            look_ahead(nodes, points, table.interval, rows.slots, i)
            start, end = rows.valid_from[i], rows.valid_until[i]
            if rows.deleted[i] or (end != NEVER and (end <= at or end <= start)):
                target, group = ABSENT, np.int64(nodes[x, GROUP])
                reason = DELETED if rows.deleted[i] else EXPIRED
            else:
                target, group = WAITING if start > at else DOMINATED, rows.groups[i]
                reason, source = MOVED, i
        else:
            counters[CLOCK] = max(counters[CLOCK], now)
            i, applied = i + 1, False
            continue
        status, old_group = nodes[x, STATUS], np.int64(nodes[x, GROUP])
        was_live, is_live = status >= DOMINATED, target >= DOMINATED
        stays = was_live and is_live and group == old_group
        moved = not stays or (source >= 0 and not same_point(points, x, rows.points, source))

        # 2. its effect on the forest: `left` and `entered` collect the others whose membership changes
        leaving = entering = 0
        if moved:
            needed = room_for(trees, groups, group, 1)
            if status == MEMBER:
                needed += room_for(trees, groups, old_group, np.int64(nodes[x, FAN]))
            if trees.used[USED] + needed > len(trees.info):
                break
            for k in range(d):
                old[0, k] = points[x, k]
            if status == MEMBER:
                remove_root(trees, groups, old_group, nodes, points, x)
            elif was_live and not stays:
                withdraw(nodes, points, x, orphans)
            if source >= 0:
                nodes[x, GROUP] = group
                for k in range(d):
                    points[x, k] = rows.points[source, k]
            if status == MEMBER:
                released = release_children(nodes, points, x, not stays, orphans)
                if released > 0:
                    entering = promote(
                        trees, groups, old_group, nodes, points, order, orphans, released, stack, entered
                    )
            if not stays:
                nodes[x, CHILD], nodes[x, FAN], nodes[x, LATELY], nodes[x, STATUS] = -1, 0, 0, target
            if is_live and not (stays and status == DOMINATED and shift(nodes, points, x, orphans)):
                root = find_dominator(trees, groups, group, nodes, points, x, stack)
                if root >= 0:
                    attach(nodes, points, root, x)
                    nodes[x, STATUS] = DOMINATED
                else:
                    leaving = crown(trees, groups, group, nodes, points, x, stack, left)
        applied = not by_itself

        # 3. its changes, in canonical order
        was_member, is_member = status == MEMBER, nodes[x, STATUS] == MEMBER
        if was_member and not is_member:
            left[leaving] = x
            leaving += 1
        elif is_member and not was_member:
            entered[entering] = x
            entering += 1
        moves = was_member and is_member and (moved or (source >= 0 and rows.touched[source]))
        if leaving + entering + moves > 0:
            log, log_points = _with_room(log, log_points, logged + leaving + entering + moves)
            sort_slots(order, points, True, left, leaving)
            sort_slots(order, points, True, entered, entering)
            first, size = logged, counters[SIZE]
            for j in range(leaving):
                size -= 1
                if left[j] == x:
                    _note(log, log_points, logged, size, LEAVE, x, reason, old_group, old, 0)
                else:
                    _note(log, log_points, logged, size, LEAVE, left[j], TAKEN_OVER, group, points, left[j])
                logged += 1
            if moves:
                _note(log, log_points, logged, size, MOVE, x, MOVED, group, points, x)
                logged += 1
            for j in range(entering):
                size += 1
                own = MOVED if was_live else INSERTED
                cause = own if entered[j] == x else PROMOTED
                home = nodes[entered[j], GROUP]
                _note(log, log_points, logged, size, ENTER, entered[j], cause, home, points, entered[j])
                logged += 1
            counters[SIZE] = size
            log[ROW, first:logged] = i if i < n else -1
            log[BY, first:logged] = x
            log[AT, first:logged] = at

        # 4. its interval, what falls due next, and the books
        if source >= 0:
            table.interval[x, 0], table.interval[x, 1] = rows.valid_from[i], rows.valid_until[i]
        due = NEVER
        if target != ABSENT:
            due = table.interval[x, 0] if target == WAITING else table.interval[x, 1]
            table.population[group] += 1
        else:
            gone = _appended(gone, n_gone, x)
            n_gone += 1
        schedule(due_times, due_slots, due_size, table.due_places, order, x, due)
        counters[LIVE] += np.int64(is_live) - np.int64(was_live)
        if status != ABSENT:
            table.population[old_group] -= 1
            if table.population[old_group] == 0:
                emptied = _appended(emptied, n_emptied, old_group)
                n_emptied += 1
    return i, needed, log[:, :logged], log_points[:logged], gone[:n_gone], emptied[:n_emptied]


@njit(cache=True)
def restore_roots(table, trees, slots, first):
    """Makes slots[first:], members all, roots of the forest. Gives the next one to do, and the nodes that it needs."""
    for i in range(first, len(slots)):
        slot = slots[i]
        group = np.int64(table.nodes[slot, GROUP])
        needed = room_for(trees, table.groups, group, 1)
        if trees.used[USED] + needed > len(trees.info):
            return i, needed
        table.nodes[slot, CHILD], table.nodes[slot, FAN], table.nodes[slot, LATELY] = -1, 0, 0
        add_root(trees, table.groups, group, table.nodes, table.points, slot)
    return len(slots), 0


@njit(cache=True)
def restore_others(table, trees, slots):
    """Attaches slots, no members, to the roots. Gives one that no root dominates, or -1."""
    nodes, points = table.nodes, table.points
    for slot in slots:
        nodes[slot, CHILD], nodes[slot, FAN], nodes[slot, LATELY] = -1, 0, 0
    for slot in slots:
        root = find_dominator(trees, table.groups, np.int64(nodes[slot, GROUP]), nodes, points, slot, table.stack)
        if root < 0:
            return slot
        attach(nodes, points, root, slot)
    return -1


@njit(cache=True)
def dominated_root(table, trees, slots):
    """One of these slots, roots all, that a root dominates, or -1."""
    for slot in slots:
        group = np.int64(table.nodes[slot, GROUP])
        if find_dominator(trees, table.groups, group, table.nodes, table.points, slot, table.stack) >= 0:
            return slot
    return -1


@njit(cache=True)
def restore_due(table, order, slots):
    """Schedules what the known slots have coming."""
    for slot in slots:
        due = table.interval[slot, 0] if table.nodes[slot, STATUS] == WAITING else table.interval[slot, 1]
        schedule(table.due_times, table.due_slots, table.due_size, table.due_places, order, slot, due)
