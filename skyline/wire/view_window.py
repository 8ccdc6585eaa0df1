"""The window of a view, fed with its updates: elements by name instead of positions, records instead of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from skyline.errors import InvalidInput
from skyline.view import Ints, View
from skyline.window import SkylineWindow, Watch
from skyline.window.changes import WindowChanges
from skyline.window.layout import EXPIRED, FAR, PROMOTED
from skyline.wire.decode import Decoded
from skyline.wire.elements import Element, Elements

_SLACK: Final = 8192
"""Elements kept beyond those that are needed, so that forgetting costs little for each."""


class Applied(NamedTuple):
    """What a batch of records was to the window: `at` is the clock at each, `rows` are those that brought elements."""

    at: Ints
    rows: Ints


class ViewWindow:
    """A window view at one place of its log: every good update is an element, whatever its key.

    Everything that the log says counts, in order: the clock is the latest timestamp so far, also of ticks and rejects.
    With a history it answers `between`, and keeps every element of the window, not only those that no younger one
    dominates.
    """

    def __init__(self, view: View, *, history: bool = False) -> None:
        assert view.window is not None
        self.view = view
        self.position = 0
        """Offset after the last record that was applied."""
        directions = dict(zip(view.dimensions.names, view.dimensions.directions, strict=True))
        self.window = SkylineWindow(directions, size=view.window.size, span=view.window.span, history=history)
        self._elements = Elements(len(view.dimensions))

    @property
    def clock(self) -> int:
        """The latest event time, 0 before any."""
        return self.window.clock or 0

    def apply(self, batch: Decoded) -> Applied:
        """Appends the elements of a batch and lets its time pass."""
        told = self.window.clock
        times = np.clip(batch.records.timestamps, -FAR, FAR)
        at: Ints = np.maximum.accumulate(times if told is None else np.maximum(times, told))
        rows = np.delete(np.arange(len(at)), [*batch.ticks, *batch.rejected])
        chosen = rows.tolist()
        extras = [b""] * len(chosen) if batch.extras is None else [batch.extras[row] for row in chosen]
        keys, points = [batch.keys[row] for row in chosen], batch.points[rows]
        self._elements.add(self.window.count, batch.records.offsets[rows], points, keys, extras)
        self.window.append(points, at[rows])
        self.window.advance(int(at[-1]))
        self.position = int(batch.records.offsets[-1]) + 1
        return Applied(at, rows)

    def rows_of(self, changes: WindowChanges, applied: Applied) -> Ints:
        """The record of the batch that brought each change about. `changes` must be read after every batch.

        What expires in a window by span does so with the first record that lets the time pass, element or not: so it
        does not matter how records were batched.
        """
        rows: Ints = np.empty(len(changes), np.int64)
        if self.window.by_size:
            rows[:] = applied.rows[changes.rows]
            return rows
        timed = (changes.reasons == EXPIRED) | (changes.reasons == PROMOTED)
        rows[timed] = np.searchsorted(applied.at, changes.at[timed])
        rows[~timed] = applied.rows[changes.rows[~timed]]
        return rows

    def watch(self, n: int) -> Watch:
        """A standing query for `last(n)` that keeps every change, with positions for elements."""
        return self.window.watch(n, log=True)

    def last(self, n: int | str) -> list[Element]:
        """The skyline of the newest n elements, or milliseconds, in order of arrival."""
        return self.elements(self.window.last(n))

    def between(self, n1: int | str, n2: int | str) -> list[Element]:
        """The skyline of the stretch from the n2-th newest to the n1-th newest. Needs a history."""
        return self.elements(self.window.between(n1, n2))

    def elements(self, positions: Ints) -> list[Element]:
        """The elements at these positions: kept ones, and until `forget` all that the last batches touched."""
        return self._elements.of(positions)

    def forget(self) -> None:
        """Lets go of elements that no query can give any more, now and then. O(1) amortised per element."""
        if len(self._elements) > 2 * len(self.window) + _SLACK:
            self._prune()

    def dump(self) -> dict[str, Any]:
        """Everything that `load` needs, as plain arrays, numbers and lists of bytes."""
        self._prune()
        return {"position": self.position, **self._elements.dump(), **self.window.dump()}

    @classmethod
    def load(cls, view: View, state: Mapping[str, Any]) -> ViewWindow:
        """A window in the state that `dump` gave. Refuses the state of a window of another extent or directions."""
        loaded = cls(view)
        window = SkylineWindow.load(state)
        if (window.dimensions, window.by_size, window.width) != (
            view.dimensions, loaded.window.by_size, loaded.window.width,
        ):  # fmt: skip
            raise InvalidInput(f"the state is of another window than that of view {view.name!r}")
        loaded.window = window
        loaded.position = int(state["position"])
        loaded._elements = Elements.load(len(view.dimensions), dict(state))
        return loaded

    def _prune(self) -> None:
        self._elements.keep(self.window.kept())
