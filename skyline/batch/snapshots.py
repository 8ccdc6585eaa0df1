"""Skyline of a fixed set of objects that change in bulk, snapshot after snapshot (the 2014 paper; see
docs/algorithms.md for what differs from it and why).

Each object has a box around the points it has had. A box dominates another if its worst corner dominates the other's
best corner; then the other object cannot be a member as long as both stay in their boxes. Only objects whose box no
box is known to dominate (the paper's SKM) are candidates for the skyline; each other object (NSKM) hangs below one
candidate whose box dominates its own.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from skyline.batch import snapshots_kernels as kernels
from skyline.batch.arrays import table
from skyline.batch.snapshots_input import checked_updates
from skyline.errors import InvalidInput
from skyline.view import Directions, Floats, Ints, positive

DEFAULT_CFP: Final = 50
"""The paper's threshold (section 6.5): 10 to 100 serve equally well."""


class SnapshotSkyline:
    """Keeps the skyline of N objects, the rows 0 to N - 1, while many of them change at a time.

    `apply` is one snapshot: `prepare` (the paper's PRE) takes the new values and keeps the boxes right, `evaluate`
    (SKY) computes the skyline of the candidates, `finish` (POST) retires candidates that have not been members for
    `cfp` snapshots in a row. Call the three instead of `apply` to time them. Memory: O(Nd).

    >>> hotels = SnapshotSkyline([[80, 4.1], [120, 4.8], [90, 3.9]], directions=["min", "max"])
    >>> hotels.members()
    array([0, 1])
    >>> hotels.apply([2, 1], [[70, 3.9], [75, 4.8]])
    array([1, 2])
    """

    def __init__(self, points: npt.ArrayLike, directions: Directions = None, cfp: int = DEFAULT_CFP) -> None:
        """Snapshot 0. O(N log N + Nd|skyline|) at worst."""
        self._cfp = positive("cfp", cfp)
        given, self._dimensions = table(points, directions)
        self._signs = self._dimensions.signs
        inward = self._dimensions.inward(given)
        self._boxes = np.stack([inward] * 3, axis=1)  # kernels.POINT, LOW and HIGH
        self._links = np.full((len(self), kernels.COLUMNS), kernels.NONE, dtype=np.int64)
        self._links[:, kernels.ADRM] = kernels.PENDING
        self._skm = np.empty(len(self), dtype=np.int64)
        self._candidates = 0
        self._pending = np.arange(len(self))
        self._now = 0
        self._evaluated = False
        self._verify(len(self))
        self.evaluate()

    def __len__(self) -> int:
        """The number of objects, N."""
        return len(self._boxes)

    def apply(self, rows: npt.ArrayLike, points: npt.ArrayLike) -> Ints:
        """The next snapshot: rows (n,) have the values points (n, d) now. Returns the rows in the skyline, ascending.

        A row that is named twice has the later value. Modifications (add, multiply, average) are resolved before, by
        `skyline.batch.snapshots_modifications.resolve`. The rows are the same set for ever, as in the paper: use
        `skyline.Skyline` where objects come and go.
        """
        self.prepare(rows, points)
        members = self.evaluate()
        self.finish()
        return members

    def prepare(self, rows: npt.ArrayLike, points: npt.ArrayLike) -> None:
        """Pre-computation maintenance: new values, their boxes, and who is a candidate. Nothing changes on bad input.

        O(d) for most rows; see `snapshots_kernels.update` and `verify`. May be called more than once a snapshot.
        """
        checked, values = checked_updates(rows, points, len(self), self._dimensions, self._signs)
        self._evaluated = False
        count = kernels.update(self._boxes, self._links, checked, values, self._now, self._pending)
        if count:
            self._verify(count)

    def evaluate(self) -> Ints:
        """Skyline calculation: the rows in the skyline, ascending. Costs what moved among the candidates."""
        members = kernels.evaluate(self._boxes, self._links, self._skm[: self._candidates], self._now)
        members.sort()
        self._members: Ints = members
        self._now += 1
        self._evaluated = True
        return self.members()

    def finish(self) -> None:
        """Post-computation maintenance: counts false positives and reconstructs. Once after each `evaluate`."""
        if not self._evaluated:
            raise InvalidInput("finish() belongs after evaluate(), once; call prepare(), evaluate(), finish() in turn")
        self._evaluated = False
        self._candidates = kernels.reconstruct(self._boxes, self._links, self._skm, self._candidates, self._cfp)

    def members(self) -> Ints:
        """Rows in the skyline as of the last evaluation, ascending."""
        return self._members.copy()

    def candidates(self) -> Ints:
        """Rows whose boxes are skyline boxes (SKM), ascending: the members and the false positives."""
        return np.sort(self._skm[: self._candidates])

    def points(self) -> Floats:
        """Every object's values now, as given: (N, d)."""
        return self._dimensions.outward(self._boxes[:, kernels.POINT])

    def _verify(self, count: int) -> None:
        self._candidates = kernels.verify(
            self._boxes, self._links, self._skm, self._candidates, self._pending[:count], self._now
        )

    def _check(self) -> None:
        """Asserts every invariant. O(Nd)."""
        links, candidates = self._links, self._skm[: self._candidates]
        points, low, high = (self._boxes[:, corner] for corner in (kernels.POINT, kernels.LOW, kernels.HIGH))
        assert (low <= points).all()
        assert (points <= high).all()
        above = links[:, kernels.ADRM]
        assert sorted(candidates) == sorted(np.flatnonzero(above == kernels.NONE))
        for row in range(len(self)):
            below = self._below(row)
            assert below == list(np.flatnonzero(above == row))
            for child in below:
                assert _dominates(high[row], low[child])
        for row in candidates:
            witness = links[row, kernels.WITNESS]
            assert (witness == kernels.NONE) == (row in self._members)
            assert witness == kernels.NONE or _dominates(points[witness], points[row])

    def _below(self, row: int) -> list[int]:
        below, child, before = [], self._links[row, kernels.DRM], kernels.NONE
        while child != kernels.NONE:
            assert self._links[child, kernels.PREVIOUS] == before
            below.append(int(child))
            child, before = self._links[child, kernels.NEXT], child
        return sorted(below)


def _dominates(p: Floats, q: Floats) -> bool:
    return bool((p <= q).all() and (p < q).any())
