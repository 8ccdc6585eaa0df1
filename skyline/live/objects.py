"""The table of objects that every engine keeps: one row per slot, in flat arrays that grow."""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from skyline.view import NEVER, Floats, Ints

ABSENT: Final = 0
WAITING: Final = 1
"""Known, but its `valid_from` has not come."""
DOMINATED: Final = 2
MEMBER: Final = 3
"""`DOMINATED` and `MEMBER` objects are live."""

ALWAYS: Final = int(np.iinfo(np.int64).min)
"""`valid_from` of an object that does not wait, and the clock before any time was given."""

STATUS: Final = 0
GROUP: Final = 1
LINK: Final = 2
"""Columns of `Objects.nodes`; `LINK` is the first of the engine's own."""

Nodes = npt.NDArray[np.int32]
Scalar = TypeVar("Scalar", bound=np.generic)


class Objects:
    """Points, status, group and interval by slot.

    nodes       (capacity, 2 + links) int32: status, group, and `links` columns of the engine's own, so that one row,
                one cache line, tells all about an object
    points      (capacity, d) float64, inward
    interval    (capacity, 2) int64: valid_from, valid_until
    population  (groups,) int64: number of known objects, live or waiting, by group

    The rows of absent objects mean nothing but their status. Growth is geometric: O(1) amortised per object.
    """

    def __init__(self, dimensions: int, links: int = 0) -> None:
        self.nodes: Nodes = np.zeros((0, LINK + links), np.int32)
        self.points: Floats = np.zeros((0, dimensions))
        self.interval: Ints = np.zeros((0, 2), np.int64)
        self.population: Ints = np.zeros(1, np.int64)

    def reserve(self, capacity: int, groups: int) -> None:
        """Makes room for slots below `capacity` and group ids below `groups`."""
        if groups > len(self.population):
            self.population = grown(self.population, groups + groups // 2)
        if capacity > len(self.nodes):
            room = max(capacity, len(self.nodes) + len(self.nodes) // 2, 64)
            self.nodes = grown(self.nodes, room)
            self.points = grown(self.points, room)
            self.interval = grown(self.interval, room)

    @property
    def status(self) -> Nodes:
        return self.nodes[:, STATUS]

    @property
    def group(self) -> Nodes:
        return self.nodes[:, GROUP]

    @property
    def valid_from(self) -> Ints:
        return self.interval[:, 0]

    @property
    def valid_until(self) -> Ints:
        return self.interval[:, 1]

    def live(self) -> Ints:
        """Slots of the live objects, ascending. O(capacity)."""
        return np.flatnonzero(self.status >= DOMINATED)

    def members(self) -> Ints:
        """Slots of the members of all groups, ascending. O(capacity)."""
        return np.flatnonzero(self.status == MEMBER)

    def due(self, slot: int) -> int:
        """Event time at which this object starts or expires by itself; `NEVER` if it does not."""
        status = self.nodes[slot, STATUS]
        if status == WAITING:
            return int(self.interval[slot, 0])
        return int(self.interval[slot, 1]) if status != ABSENT else NEVER


def grown(array: npt.NDArray[Scalar], length: int) -> npt.NDArray[Scalar]:
    """A copy of `array` with zeroed rows up to `length`."""
    larger: npt.NDArray[Scalar] = np.zeros((length, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
