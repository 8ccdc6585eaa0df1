# mypy: ignore-errors
"""The members found so far, arranged for one question: do at least k of them dominate this corner?

Members arrive one by one. They lie in blocks of BLOCK rows; the blocks form perfect binary trees, one for each bit that
is set in the number of blocks, largest first. A full block joins the smaller trees behind it, as a carry runs
through a binary counter, and the rows of the joint tree are arranged anew as a k-d tree. The low corner of the node
of 2^j blocks that starts at block b * 2^j is row (2b + 1) * 2^j - 1 of `lows`: the place of a node never changes as
the frontier grows.
Adding m members costs O(m log^2 m) in all, however they are ordered.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.search.tree_kernels import RUN, select

BLOCK = 16


@njit(cache=True, nogil=True)
def add_member(rows, weights, lows, count, corners, corner):
    """Puts a corner (its row of `corners`) behind the `count` rows that are there, after merging a full block."""
    if count > 0 and count % BLOCK == 0:
        _carry(rows, weights, lows, count // BLOCK)
    for i in range(rows.shape[1]):
        rows[count, i] = corners[corner, i + 1]
    weights[count] = 1


@njit(cache=True, nogil=True)
def _carry(rows, weights, lows, blocks):
    """Arranges the tree that the newest of `blocks` full blocks completes."""
    height = 0
    while (blocks >> height) & 1 == 0:
        height += 1
    start = (blocks - (1 << height)) * BLOCK
    dims = rows.shape[1]
    noted = np.empty((2, RUN), np.int64)
    for level in range(height, 0, -1):
        size = BLOCK << level
        for first in range(start, blocks * BLOCK, size):
            select(rows, weights, first, first + size, first + size // 2, level % dims, noted)
    for block in range(start // BLOCK, blocks):
        for i in range(dims):
            low = rows[block * BLOCK, i]
            for row in range(block * BLOCK + 1, (block + 1) * BLOCK):
                low = min(low, rows[row, i])
            lows[2 * block, i] = low
    for level in range(1, height + 1):
        for first in range(start // BLOCK, blocks, 1 << level):
            node = first * 2 + (1 << level) - 1
            half = 1 << (level - 1)
            for i in range(dims):
                lows[node, i] = min(lows[node - half, i], lows[node + half, i])


@njit(cache=True, nogil=True)
def dominators(rows, weights, lows, count, corners, corner, k, scratch, stack, hint):
    """How many of the `count` members dominate a corner, counted no further than k.

    `scratch` lends 128 places from `stack` on, and one at `hint` for the row that is tried first. Typically
    O(log^2 m + k) in few dimensions, O(m) at worst.
    """
    if count == 0:
        return 0
    if k == 1 and _dominates(rows, scratch[hint], corners, corner):
        return 1
    found = 0
    merged = (count - 1) // BLOCK
    for row in range(merged * BLOCK, count):
        if _dominates(rows, row, corners, corner):
            found += weights[row]
            if found >= k:
                scratch[hint] = row
                return k
    first = 0
    for height in range(40, -1, -1):
        if (merged >> height) & 1 == 0:
            continue
        scratch[stack] = first * 2 + (1 << height) - 1
        first += 1 << height
        top = stack + 1
        while top > stack:
            top -= 1
            node = scratch[top]
            if not _below(lows, node, corners, corner):
                continue
            if node & 1:
                # the place of an inner node ends in as many ones as it is high
                half = ((node + 1) & -(node + 1)) >> 1
                scratch[top] = node + half
                scratch[top + 1] = node - half
                top += 2
                continue
            for row in range(node // 2 * BLOCK, (node // 2 + 1) * BLOCK):
                if _dominates(rows, row, corners, corner):
                    found += weights[row]
                    if found >= k:
                        scratch[hint] = row
                        return k
    return found


@njit(cache=True, nogil=True)
def _below(lows, node, corners, corner):
    below = True
    for i in range(lows.shape[1]):
        below &= lows[node, i] <= corners[corner, i + 1]
    return below


@njit(cache=True, nogil=True)
def _dominates(rows, row, corners, corner):
    better = False
    for i in range(rows.shape[1]):
        if rows[row, i] > corners[corner, i + 1]:
            return False
        if rows[row, i] < corners[corner, i + 1]:
            better = True
    return better
