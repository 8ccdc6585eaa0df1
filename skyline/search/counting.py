"""Enumerating and top-k dominating queries: how many objects an object dominates."""

from __future__ import annotations

from typing import Final

import numpy as np

from skyline.search.counting_kernels import count_dominated
from skyline.search.members import Members
from skyline.search.parts import Snapshot
from skyline.search.query import Query
from skyline.view import Floats, Ints

_EXACT: Final = -1
_STAGES: Final = (3, 1, 0, _EXACT)
"""Levels whose nodes are not opened, coarse first: 80 of 773 candidates were counted exactly for k = 10 of 1M."""


def enumerate_members(members: Members) -> list[tuple[int, int]]:
    """Each member with the number of objects that it dominates, in the order of the search; hold the lock."""
    places = members.places()
    targets = members.snapshot.rows(places)
    counts, _ = _bounds(members.snapshot, members.query, targets, _EXACT)
    return list(zip(places[:, 0].tolist(), counts.tolist(), strict=True))


def top_dominating(band: Members, k: int) -> list[tuple[int, int]]:
    """The k objects that dominate the most, with how many, best first, then by id; hold the lock.

    `band` is the k-skyband, which holds them all: whatever dominates p dominates what p does, and p, so it ranks
    before p; an answer therefore has fewer than k dominators. Bounds from ever smaller nodes leave few to count.
    """
    places = band.places()
    targets = band.snapshot.rows(places)
    for floor in _STAGES:
        least, most = _bounds(band.snapshot, band.query, targets, floor)
        if len(places) > k:
            kept = most >= np.partition(least, -k)[-k]
            places, targets, least = places[kept], targets[kept], least[kept]
    best = np.lexsort((places[:, 0], -least))[:k]
    return list(zip(places[best, 0].tolist(), least[best].tolist(), strict=True))


def _bounds(snapshot: Snapshot, query: Query, targets: Floats, floor: int) -> tuple[Ints, Ints]:
    least, most = np.zeros(len(targets), np.int64), np.zeros(len(targets), np.int64)
    count_dominated(snapshot.parts, snapshot.visible, snapshot.fanout, len(query.dims), targets, floor, least, most)
    return least, most
