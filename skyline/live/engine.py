"""The contract of a live engine, once, for all of them.

An engine sees slots (small integers that stand for keys), group ids and inward points; `Skyline` does the rest. It
owns the table of objects and the clock, and turns batches of rows into changes. tests/live runs one suite against
every engine: they all give the same changes, in the same order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skyline.live.changes import Columns
from skyline.live.keys import Keys
from skyline.live.objects import ABSENT, ALWAYS, DOMINATED, MEMBER, WAITING, Objects
from skyline.view import NEVER, Bools, Floats, Ints

State = dict[str, np.ndarray | int | str]
"""What `dump` gives and `load` takes: plain arrays and scalars."""


@dataclass(frozen=True)
class Batch:
    """n rows, validated, in the order in which they take effect.

    A slot of -1 deletes an object that does not exist. `at` does not descend, nor begin before the engine's clock.
    `touched` asks for a move of a member whose row changes neither point nor group. `advance_to` is the time up to
    which things fall due after the last row.
    """

    slots: Ints
    points: Floats
    groups: Ints
    deleted: Bools
    valid_from: Ints
    valid_until: Ints
    at: Ints
    touched: Bools
    advance_to: int = ALWAYS


class Engine(ABC):
    """Maintains the skyline of each group under batches of updates.

    Semantics of `apply`, row by row:
    1. Everything due up to the row's `at` takes effect, in order of (time, key): objects with `valid_until` <= at
       expire, waiting ones with `valid_from` <= at start. Each is an update of its own. `NEVER` does not fall due.
    2. The row replaces its object's whole record. A deleted object, or one whose interval is empty or over, becomes
       absent; one with `valid_from` > at waits; otherwise it is live.
    3. The changes of one update are its net effect, in the order leave, move, enter, and within each by key. An object
       never has two. `by` is the updated object.
       - itself: enter is `inserted` (it was not live) or `moved`; move is `moved`; leave is `deleted`, `expired`
         (interval over or empty) or `moved`. A member that changes only its group moves. A live object that keeps
         point and group has no change, except a move if it is a member and touched.
       - others: leave is `dominated`, enter is `promoted`.
    """

    LINKS: ClassVar[int] = 0
    """int32 columns of its own that the engine wants in `Objects.nodes`."""

    def __init__(self, dimensions: int) -> None:
        self.objects = Objects(dimensions, self.LINKS)
        self.clock: int = ALWAYS
        self.size = 0
        """Number of members over all groups."""
        self.live = 0
        """Number of live objects."""

    @abstractmethod
    def apply(self, batch: Batch, keys: Keys) -> Columns:
        """Applies all rows, then whatever is due up to `batch.advance_to`. `keys` gives the order of slots by key."""

    @abstractmethod
    def restore(self, keys: Keys, state: State) -> None:
        """Builds the engine's own structures after `load` filled table and clock. `state` may be another engine's."""

    def dump_own(self) -> State:
        """What the engine adds to a dump, beyond table and clock. It may only speed up `restore`."""
        return {}

    def dump(self, capacity: int) -> State:
        """Table and clock, of slots below `capacity`, and what the engine adds. O(capacity)."""
        table = self.objects
        return {
            "clock": self.clock,
            "status": table.status[:capacity].astype(np.int8),
            "group": table.group[:capacity].copy(),
            "points": table.points[:capacity].copy(),
            "interval": table.interval[:capacity].copy(),
            **self.dump_own(),
        }

    def load(self, keys: Keys | None, groups: int, state: State) -> None:
        """Fills a fresh engine from a dump, its own or another's. O(capacity) plus the cost of `restore`."""
        status = np.asarray(state["status"])
        table = self.objects
        table.reserve(len(status), groups)
        table.status[: len(status)] = status
        table.group[: len(status)] = state["group"]
        table.points[: len(status)] = state["points"]
        table.interval[: len(status)] = state["interval"]
        self.clock = int(state["clock"])
        self.size = int((status == MEMBER).sum())
        self.live = int((status >= DOMINATED).sum())
        known = table.group[: len(status)][status != ABSENT]
        table.population[:] = np.bincount(known, minlength=len(table.population))
        if keys is not None:
            self.restore(keys, state)

    def _check(self, keys: Keys) -> None:
        """Asserts that status, size and intervals are what the definitions say. O(n m d) for n objects, m members."""
        table = self.objects
        members = table.members()
        assert len(members) == self.size
        assert len(table.live()) == self.live
        for slot in table.live():
            peers = members[table.group[members] == table.group[slot]]
            dominated = bool(dominating(table.points[peers], table.points[slot]).any())
            assert dominated == (table.status[slot] == DOMINATED), f"status of {keys.take([slot])}"
            assert table.valid_from[slot] <= self.clock
            assert table.valid_until[slot] > self.clock or table.valid_until[slot] == NEVER
        for slot in np.flatnonzero(table.status == WAITING):
            assert self.clock < table.valid_from[slot] < table.valid_until[slot] or table.valid_from[slot] == NEVER
        assert ((table.status >= ABSENT) & (table.status <= MEMBER)).all()


def dominating(points: Floats, point: Floats) -> Bools:
    """Which of the (n, d) `points` dominate `point`. O(nd)."""
    return np.asarray((points <= point).all(axis=1) & (points < point).any(axis=1))
