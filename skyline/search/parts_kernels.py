# mypy: ignore-errors
"""Appending to a buffer, killing rows by id, and gathering those that are alive."""

from __future__ import annotations

from numba import njit

from skyline.search.tree_kernels import find_id, put_id

NEVER = 2**63 - 1


@njit(cache=True, nogil=True)
def append(tree, filled, points, ids):
    """Writes the rows behind the `filled` rows of a part without nodes. O(len(ids))."""
    for i in range(ids.shape[0]):
        _copy(points, i, tree.points, filled + i)
        tree.ids[filled + i] = ids[i]
        put_id(tree.slots, tree.ids, filled + i)


@njit(cache=True, nogil=True)
def kill(tree, fanout, ids, version, gone):
    """Kills the rows of those ids that are alive here and not `gone` yet, and marks these gone; gives their number.

    O(len(ids) log n).
    """
    killed = 0
    for i in range(ids.shape[0]):
        if not gone[i]:
            slot = find_id(tree.slots, tree.ids, ids[i])
            if slot >= 0 and tree.died[slot] == NEVER:
                gone[i] = True
                killed += 1
                _kill_slot(tree.died, tree.counts, tree.emptied, tree.levels, fanout, slot, version)
    return killed


@njit(cache=True, nogil=True)
def carry_deaths(old, new, fanout, version):
    """Kills in `new`, which was gathered as of `version`, what died in `old` after that; gives the number. O(n)."""
    killed = 0
    for slot in range(old.died.shape[0]):
        if version < old.died[slot] < NEVER:
            heir = find_id(new.slots, new.ids, old.ids[slot])
            _kill_slot(new.died, new.counts, new.emptied, new.levels, fanout, heir, old.died[slot])
            killed += 1
    return killed


@njit(cache=True, nogil=True)
def _kill_slot(died, counts, emptied, levels, fanout, slot, version):
    died[slot] = version
    node = slot
    for level in range(levels.shape[0] - 1):
        node //= fanout
        at = levels[level] + node
        counts[at] -= 1
        if counts[at] == 0:
            emptied[at] = version


@njit(cache=True, nogil=True)
def count_alive(died, filled, version):
    """How many of the first `filled` rows are alive as of `version`. O(n)."""
    alive = 0
    for slot in range(filled):
        alive += died[slot] > version
    return alive


@njit(cache=True, nogil=True)
def gather(tree, filled, version, points, ids, at):
    """Copies the rows that are alive as of `version` to row `at` of `points` and `ids` and on; gives where they end."""
    for slot in range(filled):
        if tree.died[slot] > version:
            _copy(tree.points, slot, points, at)
            ids[at] = tree.ids[slot]
            at += 1
    return at


@njit(cache=True, nogil=True)
def _copy(source, row, target, at):
    """As target[at] = source[row], which takes seconds to compile."""
    for i in range(source.shape[1]):
        target[at, i] = source[row, i]
