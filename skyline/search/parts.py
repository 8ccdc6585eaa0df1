"""The objects of an index, in parts: a buffer of the newest, and packed trees of growing size and age.

Rows are never changed, only added and killed. An object that moves is killed where it lies and appended to the
buffer; a full buffer becomes a tree; a tree that is not RATIO times as large as those behind it is merged with them.
So every row is rewritten O(log n) times, and there are O(log n) trees.

Readers take a snapshot and need no lock. It is published in one assignment, and what happens later does not touch it:
later rows lie behind its end or in parts that it does not know, later deaths carry a later version.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from skyline.search.parts_kernels import append, carry_deaths, count_alive, gather, kill
from skyline.search.tree import Tree, build, check, empty
from skyline.view import NEVER, Bools, Floats, Ints

BUFFER: Final = 1024
"""Rows of the buffer. A search reads all of them, which takes about 0.1 ms; turning them into a tree takes 0.3 ms."""

RATIO: Final = 4
"""A tree is at least so many times as large as the next one."""

AT_ONCE: Final = 32_768
"""Larger merges than this (about 10 ms) are left to `maintain`, if the index is maintained in the background."""

PARTS: Final = 8
"""Parts that a search can read: kernels are compiled for this number."""

_TREES: Final = PARTS - 2
"""Trees that are tolerated; one more fits beside a buffer while a merge of all the others is under way."""


class Snapshot(NamedTuple):
    """All that a search reads: parts in the order buffer, trees; rows of each that are visible; and as of when."""

    parts: tuple[Tree, ...]
    visible: Ints
    version: int
    fanout: int

    def rows(self, places: Ints) -> Floats:
        """Points (m, columns) at `places` (m, 3), rows of id, part and slot."""
        rows = np.empty((len(places), self.parts[0].points.shape[1]))
        for part, tree in enumerate(self.parts):
            here = places[:, 1] == part
            rows[here] = tree.points[places[here, 2]]
        return rows

    def alive(self, part: int) -> Bools:
        """Which of a part's visible rows are alive."""
        return self.parts[part].died[: self.visible[part]] > self.version


@dataclass(eq=False)
class Packed:
    """A tree and its bookkeeping."""

    tree: Tree
    alive: int
    merging: bool = False

    @property
    def stale(self) -> bool:
        """Whether more of its rows are dead than alive."""
        return len(self.tree.ids) > 2 * self.alive


class Parts:
    """Rows (n, columns) under int64 ids. Any number of threads may read, insert, delete and maintain."""

    def __init__(self, points: Floats, ids: Ints, fanout: int, background: bool) -> None:
        self._fanout = fanout
        self._background = background
        self._columns = points.shape[1]
        self._nothing = empty(1, self._columns)
        self._trees = [Packed(build(points, ids, fanout), len(ids))] if len(ids) else []
        self._version = 0
        self._make_locks()
        self._new_buffer()
        self._publish()

    def _make_locks(self) -> None:
        self._maintaining = threading.Lock()
        self.lock = threading.RLock()
        """Held by whoever writes; hold it to count rows that are alive."""

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles, which have locks and merges of their own. O(n)."""
        with self.lock:
            trees = [Packed(_copied(packed.tree), packed.alive) for packed in self._trees]
            state = {**self.__dict__, "_trees": trees, "_buffer": _copied(self._buffer)}
        for own in ("lock", "_maintaining", "snapshot"):
            del state[own]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_locks()
        self._publish()

    def __len__(self) -> int:
        return self._alive

    def insert(self, ids: Ints, points: Floats) -> None:
        """Adds objects, or moves them if they are there; the last row of an id counts. Amortised O(log^2 n) each."""
        ids, points = _last_of_each(ids, points)
        with self.lock:
            self._version += 1
            self._kill(ids)
            if self._filled + len(ids) <= BUFFER:
                append(self._buffer, self._filled, points, ids)
                self._filled += len(ids)
                self._buffered += len(ids)
            else:
                self._flush(points, ids)
            self._merge_at_once()
            self._publish()

    def delete(self, ids: Ints) -> int:
        """Removes objects and gives the number of those that were there. O(log n) each, merges aside."""
        with self.lock:
            self._version += 1
            killed = self._kill(ids)
            self._merge_at_once()
            self._publish()
        return killed

    def maintain(self) -> bool:
        """Does the one merge that is due, if any, without holding up readers or writers; whether there was one."""
        if not self._maintaining.acquire(blocking=False):
            return False
        try:
            with self.lock:
                start = self._due(None)
                chosen = self._trees[start:]
                if not chosen:
                    return False
                version = self._version
                for packed in chosen:
                    packed.merging = True
            try:
                merged = self._merged([packed.tree for packed in chosen], version)
                with self.lock:
                    self._replace(chosen, merged, version)
                    self._publish()
            finally:
                for packed in chosen:
                    packed.merging = False
            return True
        finally:
            self._maintaining.release()

    def compact(self) -> None:
        """Packs everything into one tree, here and now. O(n d log n)."""
        with self._maintaining, self.lock:
            self._flush(np.empty((0, self._columns)), np.empty(0, np.int64))
            self._collapse(0)
            self._publish()

    def _check(self) -> None:
        """Asserts every invariant; O(n), for tests."""
        alive = [self._buffer.ids[: self._filled][self.snapshot.alive(0)]]
        assert len(alive[0]) == self._buffered
        for packed in self._trees:
            check(packed.tree, self._fanout)
            alive.append(packed.tree.ids[packed.tree.died == NEVER])
            assert packed.alive == len(alive[-1])
        everybody = np.concatenate(alive)
        assert len(np.unique(everybody)) == len(everybody) == len(self), "an id is alive in one place"
        assert len(self._trees) <= _TREES
        if not self._background:
            assert self._due(None) == len(self._trees), "no merge is left undone"

    def _new_buffer(self) -> None:
        self._buffer = empty(BUFFER, self._columns)
        self._filled = 0
        self._buffered = 0

    def _publish(self) -> None:
        trees = [packed.tree for packed in self._trees]
        self._alive = self._buffered + sum(packed.alive for packed in self._trees)
        idle = PARTS - 1 - len(trees)
        self.snapshot = Snapshot(
            (self._buffer, *trees, *[self._nothing] * idle),
            np.array([self._filled, *(len(tree.ids) for tree in trees), *[0] * idle]),
            self._version,
            self._fanout,
        )

    def _kill(self, ids: Ints) -> int:
        gone = np.zeros(len(ids), np.bool_)
        killed = kill(self._buffer, self._fanout, ids, self._version, gone)
        self._buffered -= killed
        for packed in reversed(self._trees):
            here = kill(packed.tree, self._fanout, ids, self._version, gone)
            packed.alive -= here
            killed += here
        return int(killed)

    def _flush(self, points: Floats, ids: Ints) -> None:
        """Turns what is alive in the buffer, and these rows, into a tree; then merges what is due."""
        rows, names = _room(self._buffered + len(ids), self._columns)
        end = gather(self._buffer, self._filled, self._version, rows, names, 0)
        rows[end:], names[end:] = points, ids
        self._new_buffer()
        if len(names):
            self._trees.append(Packed(build(rows, names, self._fanout), len(names)))

    def _merge_at_once(self) -> None:
        """Does what is due, up to what may be done at once; and more if there would be too many parts to read."""
        self._collapse(self._due(AT_ONCE if self._background else None))
        idle = self._idle_suffix()
        if len(self._trees) > _TREES and len(self._trees) > idle + 1:
            pair = min(range(idle, len(self._trees) - 1), key=lambda at: sum(p.alive for p in self._trees[at : at + 2]))
            self._collapse(pair, pair + 2)

    def _due(self, most: int | None) -> int:
        """First tree of the merge that is due, of at most `most` rows; the number of trees if none is."""
        total, start, trees = 0, len(self._trees), self._trees
        for at in range(len(trees) - 1, self._idle_suffix() - 1, -1):
            alive = trees[at].alive
            if most is not None and total + alive > most:
                break
            if trees[at].stale or alive < RATIO * total:
                start = at
            total += alive
        return start

    def _idle_suffix(self) -> int:
        """First tree of those at the end that are not being merged already."""
        start = len(self._trees)
        while start > 0 and not self._trees[start - 1].merging:
            start -= 1
        return start

    def _collapse(self, start: int, end: int | None = None) -> None:
        chosen = self._trees[start:end]
        if len(chosen) > 1 or any(packed.alive < len(packed.tree.ids) for packed in chosen):
            self._replace(chosen, self._merged([packed.tree for packed in chosen], self._version), self._version)

    def _merged(self, trees: Sequence[Tree], version: int) -> Tree | None:
        """One tree of all that is alive in these as of `version`; runs beside other threads."""
        alive = sum(count_alive(tree.died, len(tree.ids), version) for tree in trees)
        points, ids = _room(alive, self._columns)
        end = 0
        for tree in trees:
            end = gather(tree, len(tree.ids), version, points, ids, end)
        return build(points, ids, self._fanout) if alive else None

    def _replace(self, chosen: Sequence[Packed], merged: Tree | None, version: int) -> None:
        """Puts the merged tree in the place of its sources, after the deaths that they saw since `version`."""
        at = self._trees.index(chosen[0])
        heir = []
        if merged is not None:
            killed = sum(carry_deaths(packed.tree, merged, self._fanout, version) for packed in chosen)
            heir = [Packed(merged, len(merged.ids) - killed)]
        self._trees[at : at + len(chosen)] = heir


def _copied(tree: Tree) -> Tree:
    return Tree._make(array.copy() for array in tree)


def _room(rows: int, columns: int) -> tuple[Floats, Ints]:
    return np.empty((rows, columns)), np.empty(rows, np.int64)


def _last_of_each(ids: Ints, points: Floats) -> tuple[Ints, Floats]:
    unique, from_end = np.unique(ids[::-1], return_index=True)
    if len(unique) == len(ids):
        return ids, points
    last = np.sort(len(ids) - 1 - from_end)
    return ids[last], points[last]
