# mypy: ignore-errors
"""What LookOut asks of many objects at once. Points, places and trees are as in blocktree_kernels."""

from __future__ import annotations

from numba import njit

from skyline.dominance_kernels import dominates
from skyline.live.blocktree_kernels import as_array, is_dominated, no_slots


@njit(cache=True)
def undominated(tree, points, places, slots):
    """Those of the slots that no object of the tree dominates: isSkyline for each."""
    found = no_slots()
    for slot in slots:
        if not is_dominated(tree, points, points[slot : slot + 1], places[slot : slot + 1]):
            found.append(slot)
    return as_array(found)


@njit(cache=True)
def dominated_in(slots, points, by):
    """Those of the slots that slot `by` dominates. O(len d)."""
    found = no_slots()
    for slot in slots:
        if dominates(points, by, points, slot):
            found.append(slot)
    return as_array(found)
