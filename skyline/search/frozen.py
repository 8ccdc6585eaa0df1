"""`FrozenIndex`: an index as of one moment, for readers beside a writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skyline.search.approximation import Approximation, approximate
from skyline.search.frozen_kernels import collect, count_as_of
from skyline.search.members import Members
from skyline.search.parts import Snapshot
from skyline.search.query import Coordinates, Query, Space
from skyline.view import Floats, Ints, positive


class FrozenIndex:
    """What an index held when it was frozen. Costs nothing to make; keeps the trees of that moment alive."""

    def __init__(self, snapshot: Snapshot, space: Space) -> None:
        self._snapshot = snapshot
        self._space = space

    def search(
        self, *, limit: int | None = None, labels: Sequence[int] | Ints | None = None, **options: Any
    ) -> Members:
        """As `SkylineIndex.search`; with `labels` (all that may occur) nothing dominates across labels."""
        query = self._space.query(**options)
        if labels is not None:
            query = query._replace(grouped=True, labels=np.unique(np.asarray(labels, np.float64)))
        return Members(self._snapshot, query, limit)

    def approximate(self, nodes: int) -> Approximation:
        """As `SkylineIndex.approximate`."""
        return approximate(Members(self._snapshot, self._space.query(), None, positive("nodes", nodes)), self._space)

    def rows(self, places: Ints) -> Floats:
        """Rows (m, columns) at these places, inward, the label last if the index has labels."""
        return self._snapshot.rows(places)

    def dominated(self, query: Query, places: Ints) -> Ints:
        """How many of those that take part in `query` each object at `places` dominates, in its space.

        O(m n^(1 - 1/d)) node visits about, and a pass over the rows of nodes that are dominated as a whole.
        """
        found = np.zeros(len(places), np.int64)
        count_as_of(*self._snapshot, query, self._snapshot.rows(places), found)
        return found

    def sample(self, most: int, rng: np.random.Generator) -> Ints:
        """Ids of `most` objects chosen at random, each at most once; all, if there are no more. O(most) as a rule.

        Rows of objects that are gone are drawn too and passed over, so more are drawn where too few are left.
        """
        total, size = int(self._snapshot.visible.sum()), 2 * most
        while True:
            drawn = np.arange(total) if size >= total else rng.choice(total, size, replace=False)
            ids = self._living(drawn)
            if len(ids) >= most or size >= total:
                return ids if len(ids) <= most else rng.choice(ids, most, replace=False)
            size *= 2

    def _living(self, drawn: Ints) -> Ints:
        """Ids of the objects at these rows, counted through all parts, that are still there."""
        visible, found = self._snapshot.visible, []
        for part, tree in enumerate(self._snapshot.parts):
            first = int(visible[:part].sum())
            rows = drawn[(drawn >= first) & (drawn < first + visible[part])] - first
            found.append(tree.ids[rows[tree.died[rows] > self._snapshot.version]])
        return np.concatenate(found)

    def within(self, low: Coordinates | None, high: Coordinates | None, label: int | None, most: int) -> Ints:
        """Places of objects in a box, at most so many, in no order. O(rows found + n^(1 - 1/d)) about."""
        query = self._space.query(low=low, high=high, label=label)
        out = np.empty((most, 3), np.int64)
        return out[: collect(*self._snapshot, query, out)]
