# mypy: ignore-errors
"""Sorting slots by key, or by point."""

from __future__ import annotations

from numba import njit

from skyline.live.keys_kernels import key_before

_SHORT = 12


@njit(cache=True)
def lies_before(points, a, b):
    """Whether the point of slot a comes before that of slot b, lexicographically. O(d)."""
    for k in range(points.shape[1]):
        if points[a, k] != points[b, k]:
            return points[a, k] < points[b, k]
    return False


@njit(cache=True)
def _before(order, points, by_key, a, b):
    return key_before(order, a, b) if by_key else lies_before(points, a, b)


@njit(cache=True)
def sort_slots(order, points, by_key, slots, n):
    """Sorts slots[:n] by key, or else by point: by insertion if few, by heap otherwise. O(n log n), in place."""
    if n <= _SHORT:
        for i in range(1, n):
            slot = slots[i]
            j = i
            while j > 0 and _before(order, points, by_key, slot, slots[j - 1]):
                slots[j] = slots[j - 1]
                j -= 1
            slots[j] = slot
        return
    for root in range(n // 2 - 1, -1, -1):
        _sift(order, points, by_key, slots, root, n)
    for end in range(n - 1, 0, -1):
        slots[0], slots[end] = slots[end], slots[0]
        _sift(order, points, by_key, slots, 0, end)


@njit(cache=True)
def _sift(order, points, by_key, slots, root, end):
    """Restores the heap below `root`: no slot comes after the one above it."""
    slot = slots[root]
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and _before(order, points, by_key, slots[child], slots[child + 1]):
            child += 1
        if not _before(order, points, by_key, slot, slots[child]):
            break
        slots[root] = slots[child]
        root = child
    slots[root] = slot
