"""Why an object is, or is not, a member."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyline.live.changes import Key
from skyline.live.engine import Engine, dominating
from skyline.live.keys import Keys
from skyline.live.objects import ABSENT, DOMINATED, MEMBER
from skyline.view import Ints


@dataclass(frozen=True)
class Explanation:
    """`known`: there is a record; `live`: it is valid now; `member`: nothing dominates it.

    `dominators` are the members of its group that dominate it, by key; `nearest` is the one at the smallest L1
    distance, that is, the one it would take least to get past. Ties go to the smallest key.
    """

    key: Key
    known: bool
    live: bool
    member: bool
    dominators: tuple[Key, ...] = ()
    nearest: Key | None = None


def explain(engine: Engine, keys: Keys, key: Key, slot: int) -> Explanation:
    """Explains the object in this slot. O(capacity + members of the group × d)."""
    status = int(engine.objects.status[slot])
    found = _dominators(engine, slot) if status == DOMINATED else np.zeros(0, np.int64)
    names = keys.take(found)
    nearest = None
    if names:
        nearest = min(zip(_distances(engine, found, slot), names, strict=True))[1]
    return Explanation(key, status != ABSENT, status >= DOMINATED, status == MEMBER, tuple(sorted(names)), nearest)


def _dominators(engine: Engine, slot: int) -> Ints:
    table = engine.objects
    members = table.members()
    peers = members[table.group[members] == table.group[slot]]
    dominators: Ints = peers[dominating(table.points[peers], table.points[slot])]
    return dominators


def _distances(engine: Engine, slots: Ints, slot: int) -> list[float]:
    points, point = engine.objects.points[slots], engine.objects.points[slot]
    apart = np.zeros(points.shape)
    with np.errstate(over="ignore"):  # farther than float64 reaches is infinitely far
        np.subtract(point, points, out=apart, where=points != point)  # equal infinities are no distance
        distances: list[float] = apart.sum(axis=1).tolist()
    return distances
