"""The flat arrays a window lives in, and what their columns mean.

Kernels see these tuples and nothing else. Rows are the members of R_N in order of age; slots are where the index
keeps their points; positions count the stream from 0; stamps are positions in a window by size, and event times in a
window by span, so that one code serves both.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from skyline.view import Floats, Ints

WIDTH: Final = 16
"""Points, boxes and rows are grouped by 16: two cache lines of doubles per dimension, four AVX2 registers."""
OVERFLOW: Final = 256
"""Newest elements that are scanned rather than indexed. Between 64 and 256 throughput is flat; fewer trees win."""
MAX_TREES: Final = 64
"""A tree outnumbers all younger ones together, so 64 would need more than 2^63 elements."""
LEVELS: Final = 8
"""Levels of groups above the points: 16^9 slots."""

NONE: Final = np.iinfo(np.int64).min
"""Stamp of the critical dominator of an element that has none."""
DEAD: Final = np.iinfo(np.int64).max
"""Stamp in the stab tree of a row that has left R_N."""
OPEN_END: Final = np.iinfo(np.int64).max
"""Ender of an element that no younger one dominates yet."""
FAR: Final = 1 << 61
"""Event times and windows stay within ±2^61, so that no difference of two overflows."""

# columns of `rows`: every element takes a row as it arrives
POSITION, STAMP, AT, ORIGIN, ENDER, SLOT, PARENT, CHILD, NEXT, ENDED, NEXT_ENDED = range(11)
ROW_COLUMNS: Final = 11
GONE: Final = -1
"""SLOT of a row that has left R_N, or never was in it."""

# places in `meta`
TREES, TAIL, OPEN, HEAD, ROWS, LIVE, COUNT, CLOCK = range(8)
META_SIZE: Final = 8

# columns of `trees`; from BASE on, the first group of each level
TREE_LIVE, TREE_GROUPS, TREE_LEVELS, BASE = range(4)

# columns of events
E_CAUSE, E_POSITION, E_REASON, E_BY, E_AT = range(5)
EVENT_COLUMNS: Final = 5
# codes of reasons, those of skyline.live; the first two enter, the others leave
INSERTED: Final = 0
PROMOTED: Final = 2
DOMINATED: Final = 3
EXPIRED: Final = 5


class Members(NamedTuple):
    """R_N in order of age, the stab tree over it, and the counters of the whole window.

    A row that leaves R_N keeps its columns until the rows are renewed: standing queries read from them what happened.
    ORIGIN is the stamp of the critical dominator, PARENT its row; CHILD and NEXT list the rows it critically
    dominates, ENDED and NEXT_ENDED those it ended, both from young to old; ENDER is the position that ended the row.
    """

    rows: Ints  # (capacity, ROW_COLUMNS)
    floors: Ints  # stamps of critical dominators, then the least of every 16, of every 256, ...
    meta: Ints


class Index(NamedTuple):
    """R_N by place: packed trees from oldest to youngest, then the overflow in order of arrival."""

    points: Floats  # (groups, d, WIDTH); a removed point is NaN in its first dimension
    row_of: Ints  # (slots,)
    low: Floats  # (inner groups, d, WIDTH): corners of the boxes of the groups below
    high: Floats
    young: Ints  # (inner groups, WIDTH): at least the youngest row below
    trees: Ints  # (MAX_TREES, BASE + LEVELS + 1)
    keys: Floats  # (slots, d), scratch of a build
    order: Ints  # (slots,), scratch
    found: Ints  # (slots,), scratch: what a search or a build collects
    stack: Ints  # scratch of traversals


class History(NamedTuple):
    """P_N by position, in a ring: what an (n1, n2) query needs of every element, redundant or not."""

    points: Floats  # (ring, d)
    time: Ints  # event times: stamps in a window by span
    ancestor: Ints  # position of the critical dominator, or -1
    ender: Ints  # position of the oldest younger dominator, or OPEN_END
    floors: Ints  # least ancestor of every 16, of every 256, ...
    fore: Ints  # (ring, 2): youngest element it critically dominates; next older one with the same ancestor
    back: Ints  # (ring, 2): youngest element it ends; next older one with the same ender


def floors_size(capacity: int) -> int:
    """Entries of a stab tree over `capacity` rows, the rows themselves included."""
    total, level = 0, capacity
    while level > 1:
        total += level
        level = -(-level // WIDTH)
    return total + 1


def new_members(capacity: int) -> Members:
    """Room for `capacity` rows (a multiple of 16)."""
    return Members(
        np.empty((capacity, ROW_COLUMNS), np.int64),
        np.full(floors_size(capacity), DEAD, np.int64),
        np.zeros(META_SIZE, np.int64),
    )


def new_index(capacity: int, dims: int) -> Index:
    """Room for `capacity` rows of `dims` dimensions: every row has one slot, every tree pads its last group."""
    groups = capacity // WIDTH + MAX_TREES
    slots = groups * WIDTH
    inner = groups // (WIDTH - 1) + MAX_TREES * LEVELS
    return Index(
        np.full((groups, dims, WIDTH), np.nan),
        np.empty(slots, np.int64),
        np.empty((inner, dims, WIDTH)),
        np.empty((inner, dims, WIDTH)),
        np.empty((inner, WIDTH), np.int64),
        np.zeros((MAX_TREES, BASE + LEVELS + 1), np.int64),
        np.empty((slots, dims)),
        np.empty(slots, np.int64),
        np.empty(slots, np.int64),
        np.empty((WIDTH * (LEVELS + 2) + MAX_TREES, 3), np.int64),
    )


def new_history(ring: int, dims: int) -> History:
    """Room for the newest `ring` elements (a power of two, at least 16)."""
    return History(
        np.empty((ring, dims)),
        np.empty(ring, np.int64),
        np.empty(ring, np.int64),
        np.empty(ring, np.int64),
        np.full(floors_size(ring) - ring, DEAD, np.int64),
        np.empty((ring, 2), np.int64),
        np.empty((ring, 2), np.int64),
    )
