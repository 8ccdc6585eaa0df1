# mypy: ignore-errors
"""The rival of windows: R_N in one flat array, scanned for every element."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def flat_append(kept, positions, origins, count, points, first, size):
    """Appends points (n, d) to the `count` elements in kept (capacity, d), in order of age; returns how many there are.

    Per element one pass over R_N: what has expired or is dominated is dropped, the youngest dominator is remembered.
    """
    dims = points.shape[1]
    for i in range(points.shape[0]):
        position, origin, into = first + i, -1, 0
        for j in range(count):
            if positions[j] <= position - size:
                continue
            smaller, larger = False, False
            for k in range(dims):
                smaller |= kept[j, k] < points[i, k]
                larger |= kept[j, k] > points[i, k]
            if larger and not smaller:
                continue
            if smaller and not larger:
                origin = positions[j]
            if into != j:
                for k in range(dims):
                    kept[into, k] = kept[j, k]
                positions[into], origins[into] = positions[j], origins[j]
            into += 1
        for k in range(dims):
            kept[into, k] = points[i, k]
        positions[into], origins[into] = position, origin
        count = into + 1
    return count
