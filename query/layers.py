"""How deep an object lies: members are layer 1, what would be members without those layer 2, and so on."""

from __future__ import annotations

from typing import Final

import numpy as np

from query.gate import Deadline
from query.layers_kernels import peel
from skyline.view import Floats

_AT_ONCE: Final = 1024
"""Rows between two looks at the clock: some 10 ms where layers are large."""


def depth(rows: Floats, layers: int, deadline: Deadline) -> tuple[int, bool]:
    """How many layers these rows (m, d) have, smaller being better, up to `layers`; and whether that is all.

    It is not where half of the time was up before: then there are at least so many. O(m d) times a layer's size.
    """
    rows = np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])])
    heads, behind = np.full(layers, -1), np.empty(len(rows), np.int64)
    deepest = 0
    for start in range(0, len(rows), _AT_ONCE):
        if deepest == layers:
            break
        if deadline.left < deadline.seconds / 2:
            return deepest, False
        deepest = peel(rows, start, min(start + _AT_ONCE, len(rows)), heads, behind, deepest)
    return deepest, True
