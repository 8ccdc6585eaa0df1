"""Where a standing query stands in its window, and how it moves on."""

from __future__ import annotations

from typing import Protocol

from skyline.view import Ints
from skyline.window.delayed_kernels import pass_time_delayed, slide_delayed
from skyline.window.history_kernels import first_position_after, stretch_skyline
from skyline.window.layout import ROWS
from skyline.window.stab_kernels import first_row_after, stab
from skyline.window.standing_kernels import pass_time, slide
from skyline.window.store import Store


class Feed(Protocol):
    """The changes of one query, from where it stood when last asked."""

    def members(self) -> Ints:
        """Positions of the answer now, ascending."""

    def seat(self) -> None:
        """Stands at the newest element; also after the rows were renewed."""

    def events(self) -> Ints:
        """What has changed since, (m, EVENT_COLUMNS), in order."""


class NewestFeed:
    """The newest n elements, or milliseconds."""

    def __init__(self, store: Store, n: int) -> None:
        self._store, self._n = store, n
        self.seat()

    def members(self) -> Ints:
        answer: Ints = stab(self._store.members, self._store.now - self._n)
        return answer

    def seat(self) -> None:
        members = self._store.members
        self._arrival = int(members.meta[ROWS])
        self._oldest = first_row_after(members, self._store.now - self._n)

    def events(self) -> Ints:
        store, cursors = self._store, (self._n, self._arrival, self._oldest)
        events: Ints
        if store.by_size:
            events, self._arrival, self._oldest = slide(store.members, *cursors)
        else:
            events, self._arrival, self._oldest = pass_time(store.members, *cursors, store.now)
        return events


class StretchFeed:
    """The stretch from the n2-th to the n1-th newest element, or millisecond. Needs a history."""

    def __init__(self, store: Store, n1: int, n2: int) -> None:
        self._store, self._n1, self._n2 = store, n1, n2
        self._oldest, newest = self._ends()
        self._arriving, self._seen = newest + 1, store.count

    def members(self) -> Ints:
        answer: Ints = stretch_skyline(self._store.history, *self._ends())
        return answer

    def seat(self) -> None:
        """Positions stay as they are when rows are renewed."""

    def events(self) -> Ints:
        store, seen = self._store, self._seen
        self._seen = store.count
        events: Ints
        if store.by_size:
            events = slide_delayed(store.history, self._n1, self._n2, seen, store.count)
        else:
            events, self._arriving, self._oldest = pass_time_delayed(
                store.history, self._n1, self._n2, self._arriving, self._oldest, seen, store.count, store.now
            )
        return events

    def _ends(self) -> tuple[int, int]:
        """First and last position of the stretch; the last before the first if it is empty."""
        store, now = self._store, self._store.now
        if store.by_size:
            return max(0, now - self._n2 + 1), now - self._n1 + 1
        oldest = store.oldest
        first = first_position_after(store.history, oldest, store.count, now - self._n2)
        return int(first), int(first_position_after(store.history, oldest, store.count, now - self._n1 + 1)) - 1
