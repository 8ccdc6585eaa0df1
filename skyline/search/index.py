"""`SkylineIndex`: a packed R-tree that answers every variation of the skyline, and follows its data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from skyline.errors import InvalidInput
from skyline.search import groups
from skyline.search.approximation import Approximation, approximate
from skyline.search.bbs_kernels import ACCESSES
from skyline.search.counting import enumerate_members, top_dominating
from skyline.search.frozen import FrozenIndex
from skyline.search.members import Members
from skyline.search.parts import Parts
from skyline.search.query import LARGEST_LABEL, Coordinates, Query, Space, integers
from skyline.search.tree import PAGE, page_entries
from skyline.view import NEVER, Dimensions, Directions, Floats, Ints, numbers, positive, sequence


class SkylineIndex:
    """Objects in a packed R-tree (Papadias, Tao, Fu, Seeger 2005), searched best first.

    points: (n, d) in given units. directions: "min" or "max" per dimension, or a mapping that also names them.
    ids: (n,) int64, each once, by which objects are known; row numbers by default. labels: (n,) integers that put
    every object in a group. page: bytes of a node, as the paper counts node accesses. background: leave large merges
    to whoever calls `maintain`. Building costs O(n d log n).

    Any number of threads may search, insert, delete and maintain; a search sees the objects as of its beginning. An
    index can be copied and pickled.

    >>> index = SkylineIndex([[1, 9], [3, 2], [9, 1], [4, 3]])
    >>> list(index.skyline())
    [1, 0, 2]
    >>> index.insert([7], [[2, 2]])
    >>> list(index.skyline())
    [7, 0, 2]
    """

    def __init__(
        self,
        points: npt.ArrayLike,
        directions: Directions = None,
        *,
        ids: npt.ArrayLike | None = None,
        labels: npt.ArrayLike | None = None,
        page: int = PAGE,
        background: bool = False,
    ) -> None:
        given = numbers(points)
        self._space = Space(_dimensions(given, directions), labels is not None)
        rows = self._rows(given, labels)
        names = np.arange(len(rows)) if ids is None else _same_length("ids", integers("ids", ids), rows)
        if ids is not None and len(np.unique(names)) < len(names):
            raise InvalidInput("ids: every id may be given once")
        # a page is two levels of the tree, a node with its children
        fanout = isqrt(page_entries(self._space.columns, positive("page", page)))
        self._parts = Parts(rows, names, max(2, fanout), background)
        self._pages = np.zeros(ACCESSES + 1, np.int64)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def node_accesses(self) -> int:
        """Pages read by the newest search, so far."""
        return int(self._pages[ACCESSES])

    def search(
        self,
        *,
        low: Coordinates | None = None,
        high: Coordinates | None = None,
        dims: Iterable[int | str] | int | str | None = None,
        reference: Coordinates | None = None,
        k: int = 1,
        weights: Sequence[float] | Floats | None = None,
        limit: int | None = None,
        label: int | None = None,
    ) -> Members:
        """The general question, of which the named ones are cases; an iterator over ids that runs as it is read.

        Who takes part: objects in the box `low` to `high` (both ends in it, None or ±inf is open), of group `label`.
        In which space: `dims` (numbers or names); where `reference` has a number, the distance to it instead of
        the value. Who is a member: whoever fewer than `k` dominate, among those that take part. In which order:
        ascending sum of values times `weights` (a weight says how much a dimension matters, whatever its direction),
        ties by the values, then by id. How many: the first `limit`. `low`, `high`, `reference` and `weights` have
        one entry per dimension of the index, chosen or not.
        """
        return self._begin(self._space.query(low, high, dims, reference, k, weights, label), limit)

    def skyline(self) -> Members:
        """Objects that none dominates, in ascending mindist (sum of the coordinates, smaller being better)."""
        return self.search()

    def constrained(self, low: Coordinates, high: Coordinates) -> Members:
        """The skyline of the objects in a box."""
        return self.search(low=low, high=high)

    def ranked(self, weights: Sequence[float] | Floats, k: int) -> Members:
        """The k members with the smallest weighted sum, best first; stops when it has them."""
        return self.search(weights=weights, limit=positive("k", k))

    def dynamic(self, reference: Coordinates) -> Members:
        """The skyline of the distances to a reference point, dimension by dimension; None keeps a dimension's value."""
        return self.search(reference=reference)

    def skyband(self, k: int) -> Members:
        """Objects that fewer than k dominate; skyband(1) is the skyline, and the paper's K is k - 1."""
        return self.search(k=k)

    def subspace(self, dims: Iterable[int | str] | int | str) -> Members:
        """The skyline in some of the dimensions, or in one."""
        return self.search(dims=dims)

    def grouped(self, labels: npt.ArrayLike | None = None, **options: Any) -> dict[Any, Ints]:
        """The skyline of every group: label -> ids, labels ascending; labels[id] by default as the index holds them.

        `options` are those of `search`, but for limit and label.
        """
        snapshot, query = self._parts.snapshot, self._space.query(**options)
        if labels is not None:
            given = sequence("labels", labels)
            search = self._begin(groups.by_label(query, snapshot, given), snapshot=snapshot)
            return groups.gather(search, lambda places: given[places[:, 0]])
        if not self._space.labelled:
            raise InvalidInput("grouped: this index holds no labels; give them here, or when building it")
        search = self._begin(groups.by_stored_label(query, snapshot), snapshot=snapshot)
        return groups.gather(search, lambda places: snapshot.rows(places)[:, -1].astype(np.int64))

    def enumerated(self) -> list[tuple[int, int]]:
        """Every member of the skyline with the number of objects that it dominates, in the order of `skyline`."""
        with self._parts.lock:
            return enumerate_members(self.skyline())

    def dominating(self, k: int) -> list[tuple[int, int]]:
        """The k objects that dominate the most, members or not, with their number: best first, ties by id."""
        with self._parts.lock:
            return top_dominating(self.skyband(k), k)

    def approximate(self, nodes: int) -> Approximation:
        """The skyline as far as `nodes` pages tell, with a bound on the error."""
        return approximate(self._begin(self._space.query(), budget=positive("nodes", nodes)), self._space)

    def freeze(self) -> FrozenIndex:
        """The index as of now, which later inserts, deletes and merges do not touch. O(1)."""
        return FrozenIndex(self._parts.snapshot, self._space)

    def insert(self, ids: npt.ArrayLike, points: npt.ArrayLike, labels: npt.ArrayLike | None = None) -> None:
        """Adds objects; those that are there move. Of an id that comes twice the last row counts.

        Amortised O(log^2 n) each. Now and then a call merges trees: at most 32,768 rows (some 10 ms) if the index is
        maintained in the background, otherwise up to all of them.
        """
        rows = self._rows(points, labels)
        self._parts.insert(_same_length("ids", integers("ids", ids), rows), rows)

    def delete(self, ids: npt.ArrayLike) -> int:
        """Removes objects; gives the number of those that were there. O(log n) each, merges as in `insert`."""
        return self._parts.delete(integers("ids", ids))

    def maintain(self) -> bool:
        """Does one large merge that is due, in the calling thread, while others go on; whether there was one."""
        return self._parts.maintain()

    def compact(self) -> None:
        """Packs all objects into one tree, as if they were indexed anew; others wait. O(n d log n)."""
        self._parts.compact()

    def _begin(self, query: Query, limit: int | None = None, budget: int = NEVER, snapshot: Any = None) -> Members:
        members = Members(snapshot or self._parts.snapshot, query, limit, budget)
        self._pages = members.state.scratch
        return members

    def _rows(self, points: npt.ArrayLike, labels: npt.ArrayLike | None) -> Floats:
        """Points turned inward, with the label as one more column if the index has labels."""
        rows = self._space.dimensions.inward(points)
        if self._space.labelled != (labels is not None):
            state = "holds" if self._space.labelled else "does not hold"
            raise InvalidInput(f"labels must be given always or never: this index {state} labels")
        if labels is None:
            return rows
        column = _same_length("labels", integers("labels", labels), rows)
        if len(column) and max(-int(column.min()), int(column.max())) > LARGEST_LABEL:
            raise InvalidInput(f"labels must lie between -2**53 and 2**53, got {column.min()} to {column.max()}")
        return np.ascontiguousarray(np.column_stack([rows, column.astype(np.float64)]))


def _dimensions(points: Floats, directions: Directions) -> Dimensions:
    if points.shape == (0,) and directions is not None:
        return Dimensions.unnamed(directions)
    if points.ndim != 2:
        hint = "; directions would tell d" if points.shape == (0,) else ""
        raise InvalidInput(f"points must have shape (n, d), got {points.shape}{hint}")
    return Dimensions.unnamed(directions, points.shape[1])


def _same_length(what: str, array: Ints, rows: Floats) -> Ints:
    if len(array) != len(rows):
        raise InvalidInput(f"{len(array)} {what} given for {len(rows)} points")
    return array
