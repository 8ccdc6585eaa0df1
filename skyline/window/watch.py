"""A standing query: what entered and what left since it was last asked."""

from __future__ import annotations

from typing import Final

import numpy as np

from skyline.errors import InvalidInput
from skyline.view import Ints
from skyline.window.changes import WindowChanges
from skyline.window.feeds import Feed
from skyline.window.layout import E_POSITION, E_REASON, EVENT_COLUMNS, PROMOTED
from skyline.window.store import Store

FOLD: Final = 4096
"""Events that a watch nobody polls gathers, at least, before it nets them."""
_NOTHING: Ints = np.empty(0, np.int64)


class Watch:
    """The standing query for last(n), or for between(n1, n2), of a window; made by `SkylineWindow.watch`.

    An element is a member over one stretch of time: it enters once and leaves once. So what has to be kept between
    two polls is never more than the members at the one and the members at the other.
    """

    def __init__(self, feed: Feed, store: Store, log: bool) -> None:
        self.feed, self._store = feed, store
        self._ended = False
        self._entered, self._left = feed.members(), _NOTHING
        self._events: list[Ints] = []
        self._unfolded = 0
        self._log: list[Ints] | None = [] if log else None
        self._log_first, self._log_size = store.count, len(self._entered)

    def members(self) -> Ints:
        """Positions of the answer now, ascending."""
        return self.feed.members()

    def poll(self) -> tuple[Ints, Ints]:
        """Positions that entered and positions that left since the last poll, ascending; at first, all members.

        What entered and left in between is in neither. O(1) per element appended, O(c log c) for c changes.
        """
        self.read_feed()
        self._fold()
        answer = self._entered, self._left
        self._entered = self._left = _NOTHING
        return answer

    def changes(self) -> WindowChanges:
        """Every change since the last call (or since the watch began), in order. Needs `log=True`. O(c)."""
        if self._log is None:
            raise InvalidInput("this watch keeps no log of changes: make it with log=True")
        self.read_feed()
        events = np.concatenate(self._log) if self._log else np.empty((0, EVENT_COLUMNS), np.int64)
        answer = WindowChanges(events, self._log_first, self._log_size)
        if len(answer):
            self._log_size = int(answer.sizes[-1])
        self._log, self._log_first = [], self._store.count
        return answer

    def read_feed(self) -> None:
        """Takes what has changed since; the window calls it before it forgets."""
        if self._ended:
            return
        events = self.feed.events()
        if not len(events):
            return
        if self._log is not None:
            self._log.append(events)
        self._events.append(events)
        self._unfolded += len(events)
        if self._unfolded > FOLD + len(self._entered) + len(self._left):
            self._fold()

    def end(self) -> None:
        """Takes what has changed up to now, and nothing from here on."""
        self.read_feed()
        self._ended = True

    def _fold(self) -> None:
        """Nets the events: what entered and left again is forgotten."""
        if not self._events:
            return
        events = np.concatenate(self._events)
        self._events, self._unfolded = [], 0
        enters = events[:, E_REASON] <= PROMOTED
        entered = np.concatenate([self._entered, events[enters, E_POSITION]])
        left = np.concatenate([self._left, events[~enters, E_POSITION]])
        both = np.sort(np.concatenate([entered, left]))
        passing = both[:-1][both[:-1] == both[1:]]
        self._entered, self._left = _without(entered, passing), _without(left, passing)


def _without(positions: Ints, others: Ints) -> Ints:
    """The positions that are not among the others, ascending; `others` must be. O(m log m).

    numpy's setdiff1d does the same at several times the cost for the few positions of a poll.
    """
    positions = np.sort(positions)
    if not len(others):
        return positions
    places = np.minimum(np.searchsorted(others, positions), len(others) - 1)
    kept: Ints = positions[others[places] != positions]
    return kept
