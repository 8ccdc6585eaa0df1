"""The table of a window view: every update is an object of its own, which leaves when it falls out of the window."""

from __future__ import annotations

import threading
from collections import deque

from query.objects import Record
from query.stamp import NO_CLOCK, Stamp
from query.table import State, Table
from skyline.view import Ints, View
from skyline.window.changes import LEAVE
from skyline.wire.decode import Decoded
from skyline.wire.elements import element_key
from skyline.wire.view_window import ViewWindow


class WindowTable(Table):
    """The same window as the maintainer's, with a history for stretches; and an index over all that is in it."""

    def __init__(self, view: View, keep: float) -> None:
        super().__init__(view, keep)
        self._held = ViewWindow(view, history=True)
        self._watch = self._held.watch(self._held.window.width)
        self._inside: deque[tuple[int, int]] = deque()
        """(offset, event time) of every element in the window, oldest first."""
        self._window_lock = threading.Lock()
        """Held by whoever changes or asks the window: a batch or an answer takes some milliseconds at most."""

    def apply(self, batch: Decoded) -> None:
        with self._window_lock:
            applied = self._held.apply(batch)
            changes = self._watch.changes()
            named = [element.key for element in self._held.elements(changes.positions)]
            self._held.forget()
            self._follow(batch, applied.rows, applied.at, list(zip(named, changes.ops.tolist(), strict=True)))

    def last(self, n: int) -> tuple[State, list[Record]]:
        """The skyline of the newest n elements, or milliseconds, in order of arrival, and the state it belongs to."""
        with self._window_lock:
            return self._found([element.offset for element in self._held.last(n)])

    def between(self, near: int, far: int) -> tuple[State, list[Record]]:
        """The skyline of a stretch, likewise."""
        with self._window_lock:
            return self._found([element.offset for element in self._held.between(near, far)])

    def _found(self, ids: list[int]) -> tuple[State, list[Record]]:
        assert self.state is not None
        return self.state, self.objects.records(ids)

    def _follow(self, batch: Decoded, rows: Ints, at: Ints, changes: list[tuple[str, int]]) -> None:
        ids = batch.records.offsets[rows].tolist()
        keys = [element_key(batch.keys[row], number) for row, number in zip(rows.tolist(), ids, strict=True)]
        records = dict(zip(ids, self._records(batch, rows, keys), strict=True))
        self._inside += zip(ids, at[rows].tolist(), strict=True)
        gone = []
        for number in self._left():
            if records.pop(number, None) is None:
                gone.append(number)
        removed = [record[0] for record in self.objects.records(gone)]
        self._move(gone, list(records.items()))
        clock = self._held.window.clock
        seq = self._stamp.seq + len(changes)
        stamp = Stamp(self._held.position - 1, NO_CLOCK if clock is None else clock, seq)
        with self.lock:
            self.objects.replace(gone, removed, list(records), list(records.values()))
            self._change_members((key, op != LEAVE) for key, op in changes)
            self._publish(stamp, len(self.objects))

    def _left(self) -> list[int]:
        """Takes out the elements that are no longer in the window."""
        window, left = self._held.window, []
        while self._inside:
            outside = len(self._inside) > window.width if window.by_size else self._expired(self._inside[0][1])
            if not outside:
                break
            left.append(self._inside.popleft()[0])
        return left

    def _expired(self, at: int) -> bool:
        window = self._held.window
        return window.clock is not None and at + window.width <= window.clock
