"""A search under way: members come out one by one, and only as much of the index is read as they need."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyline.search.bbs_kernels import ACCESSES, DONE, FULL, GROW, HEAP, HINTS, MEMBERS, SPENT, run
from skyline.search.frontier_kernels import BLOCK
from skyline.search.parts import BUFFER, Snapshot
from skyline.search.query import Query, most
from skyline.view import NEVER, Floats, Ints

_LONGEST_CHUNK: Final = 4096


class State(NamedTuple):
    """All that a search remembers between two calls of the kernel."""

    heap: Ints  # (room,) rows of corners and marks: the heap, then those that are free
    corners: Floats  # (room, 1 + width) key, then corner
    marks: Ints  # (room, 4) entry, part, id, stamp
    members: Floats  # (places, width) the frontier, see frontier_kernels
    weights: Ints  # (places,)
    lows: Floats  # (2 * blocks, width)
    last: Floats  # (width,) the newest member
    scratch: Ints  # sizes, stack and hints, see bbs_kernels

    @classmethod
    def fresh(cls, query: Query) -> State:
        # the buffer and the roots fit; from there on the room grows as needed
        room, places, width = 2 * BUFFER, 8 * BLOCK, query.width
        return cls(
            np.arange(room),
            np.empty((room, 1 + width)),
            np.empty((room, 4), np.int64),
            np.empty((places, width)),
            np.empty(places, np.int64),
            np.empty((2 * places // BLOCK, width)),
            np.full(width, np.nan),
            np.zeros(HINTS + len(query.labels) + 1, np.int64),
        )

    def grown(self) -> State:
        """Twice the room where there is none left, for the heap or for the members."""
        room = len(self.heap)
        if int(self.scratch[MEMBERS]) < len(self.weights):
            return self._replace(
                heap=np.concatenate([self.heap, np.arange(room, 2 * room)]),
                corners=_doubled(self.corners),
                marks=_doubled(self.marks),
            )
        return self._replace(members=_doubled(self.members), weights=_doubled(self.weights), lows=_doubled(self.lows))


class Members(Iterator[int]):
    """Ids of members, in ascending order of their key (mindist, or the weighted sum), then corner, then id.

    The search sees the index as it was when the search began, whatever happens to the index meanwhile. It runs in
    chunks that start with one member and double: the first comes after a few pages. `np.asarray(members)` takes what
    is left at once. One thread at a time may use it.
    """

    def __init__(self, snapshot: Snapshot, query: Query, limit: int | None = None, budget: int = NEVER) -> None:
        self.snapshot = snapshot
        self.query = query
        self.state = State.fresh(query)
        self._left = most(limit)
        self._budget = budget
        self._chunk = 1
        self._ready: Iterator[int] = iter(())
        self._why = DONE if self._left == 0 else FULL
        self._seed()

    @property
    def node_accesses(self) -> int:
        """Pages that this search has read so far."""
        return int(self.state.scratch[ACCESSES])

    @property
    def exhausted(self) -> bool:
        """Whether nothing that could be a member is left to look at."""
        return int(self.state.scratch[HEAP]) == 0

    def __next__(self) -> int:
        for member in self._ready:
            return member
        chunk = self._search(self._chunk, self._budget)
        self._chunk = min(2 * self._chunk, _LONGEST_CHUNK)
        self._ready = iter(chunk[:, 0].tolist())
        return next(self._ready)

    def take(self, count: int) -> Ints:
        """The next `count` members, or as many as there are."""
        ready = np.array(list(islice(self._ready, count)), np.int64)
        return np.concatenate([ready, self.places(count - len(ready))[:, 0]])

    def rest(self) -> Ints:
        """All that are left."""
        return self.take(sys.maxsize)

    def places(self, count: int = sys.maxsize, pages: int = NEVER) -> Ints:
        """The same as rows of id, part and slot in the snapshot; what iteration holds ready already is left out.

        Pauses after so many pages, for a caller who minds the time: then `over` tells whether there may be more.
        """
        chunks = [np.empty((0, 3), np.int64)]
        budget = min(self._budget, self.node_accesses + pages)
        while count > 0 and self._why not in (DONE, SPENT):
            chunks.append(self._search(min(count, _LONGEST_CHUNK), budget))
            count -= len(chunks[-1])
        if self._why == SPENT and self.node_accesses < self._budget:
            self._why = FULL
        return np.concatenate(chunks)

    @property
    def over(self) -> bool:
        """Whether no more members will come."""
        return self._why in (DONE, SPENT) or self.exhausted

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self.rest().astype(dtype or np.int64, copy=bool(copy))

    def _seed(self) -> None:
        """Puts the roots on the heap, before everything else: each is opened in any case, the buffer first."""
        parts, visible, version, _ = self.snapshot
        heap, corners, marks = self.state[:3]
        size = 0
        for part, tree in enumerate(parts):
            root = max(len(tree.counts) - 1, 0)
            if visible[part] and (len(tree.counts) == 0 or tree.emptied[root] > version):
                corners[heap[size]] = -np.inf
                marks[heap[size]] = root, part, 0, -1
                size += 1
        self.state.scratch[HEAP] = size

    def _search(self, count: int, budget: int) -> Ints:
        """Up to `count` further members as rows of id, part and slot; fewer only at the end, or of the budget."""
        out = np.empty((min(count, self._left), 3), np.int64)
        found = 0
        while found < len(out) and self._why not in (DONE, SPENT):
            more, self._why = run(*self.snapshot, self.query, self.state, budget, out[found:])
            found += more
            if self._why == GROW:
                self.state = self.state.grown()
        self._left -= found
        if self._left == 0:
            self._why = DONE
        return out[:found]


def _doubled(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    larger = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
