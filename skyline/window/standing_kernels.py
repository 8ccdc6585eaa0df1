# mypy: ignore-errors
"""Standing n-of-N queries: what every arrival and the passing of time changed, the paper's Algorithm 2.

The paper keeps the result of every standing query, and a heap over it. Neither is needed: whether e is in the result
for n is one comparison of stamps, origin(e) <= cut < stamp(e); the trigger is the row at the end of the window, and
the elements it releases are its children. So a query is two cursors into the rows: the next arrival to look at, and
the oldest row of its window. It may lag behind, since rows tell when they ended; it costs O(1) per arrival, plus its
changes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.window.layout import (
    AT,
    CHILD,
    COUNT,
    DOMINATED,
    ENDED,
    ENDER,
    EVENT_COLUMNS,
    EXPIRED,
    INSERTED,
    NEXT,
    NEXT_ENDED,
    ORIGIN,
    POSITION,
    PROMOTED,
    ROWS,
    STAMP,
)


@njit(cache=True)
def room_for(events, used, more):
    """The events, moved to a larger array if `more` would not fit."""
    if used + more <= events.shape[0]:
        return events
    grown = np.empty((2 * (used + more), EVENT_COLUMNS), np.int64)
    grown[:used] = events[:used]
    return grown


@njit(cache=True)
def write(events, used, cause, position, reason, by, at):
    """Writes one event; returns the number of events."""
    event = events[used]
    event[0], event[1], event[2], event[3], event[4] = cause, position, reason, by, at
    return used + 1


@njit(cache=True)
def turn_round(events, first, end):
    """Reverses the events [first, end): lists run from young to old, changes from old to young."""
    for i in range((end - first) // 2):
        for k in range(EVENT_COLUMNS):
            a, b = events[first + i, k], events[end - 1 - i, k]
            events[first + i, k], events[end - 1 - i, k] = b, a


@njit(cache=True)
def _release(events, used, rows, parent, arrival, alive_from, cause, at):
    """Enters the children of a row that expired: those that had arrived, and that nothing before `alive_from` ended."""
    first = used
    child = rows[parent, CHILD]
    while child >= 0:
        if child < arrival and rows[child, ENDER] >= alive_from:
            events = room_for(events, used, 1)
            used = write(events, used, cause, rows[child, POSITION], PROMOTED, rows[parent, POSITION], at)
        child = rows[child, NEXT]
    turn_round(events, first, used)
    return events, used


@njit(cache=True)
def _end(events, used, rows, arrival, cut, before):
    """Takes out the members that an arrival ended: young enough, and with no dominator after `before`."""
    first = used
    position, at = rows[arrival, POSITION], rows[arrival, AT]
    other = rows[arrival, ENDED]
    while other >= 0 and rows[other, STAMP] > cut:
        if rows[other, ORIGIN] <= before:
            events = room_for(events, used, 1)
            used = write(events, used, position, rows[other, POSITION], DOMINATED, position, at)
        other = rows[other, NEXT_ENDED]
    turn_round(events, first, used)
    return events, used


@njit(cache=True)
def _ends_any(rows, arrival, cut, before):
    """Whether `_end` has anything to do: most arrivals end what was no member, and cost no more than this."""
    other = rows[arrival, ENDED]
    while other >= 0 and rows[other, STAMP] > cut:
        if rows[other, ORIGIN] <= before:
            return True
        other = rows[other, NEXT_ENDED]
    return False


@njit(cache=True)
def slide(members, span, arrival, oldest):
    """Events of the query for the newest `span` elements of a window by size, and both cursors, from `arrival` on.

    An arrival pushes one element out. Who leaves comes first, then who enters, each by position.
    """
    rows, _, meta = members
    events, used = np.empty((64, EVENT_COLUMNS), np.int64), 0
    end = meta[ROWS]
    while arrival < end:
        position = rows[arrival, POSITION]
        cut = position - span
        expired = -1
        while oldest < arrival and rows[oldest, STAMP] <= cut:
            if rows[oldest, ENDER] >= position:
                expired = oldest
            oldest += 1
        ends, enters = _ends_any(rows, arrival, cut, cut - 1), rows[arrival, ORIGIN] <= cut
        if expired >= 0 or ends or enters:
            at = rows[arrival, AT]
            events = room_for(events, used, 2)
            if expired >= 0:
                used = write(events, used, position, cut, EXPIRED, cut, at)
            if ends:
                events, used = _end(events, used, rows, arrival, cut, cut - 1)
            if expired >= 0:
                events, used = _release(events, used, rows, expired, arrival, position + 1, position, at)
            if enters:
                events = room_for(events, used, 1)
                used = write(events, used, position, position, INSERTED, position, at)
        arrival += 1
    return events[:used].copy(), arrival, oldest


@njit(cache=True)
def pass_time(members, span, arrival, oldest, now):
    """Events of the query for the newest `span` milliseconds up to `now`, and both cursors, from `arrival` on.

    What expires before an arrival does so at its own time, one after the other, each followed by those it releases.
    """
    rows, _, meta = members
    events, used = np.empty((64, EVENT_COLUMNS), np.int64), 0
    while True:
        arrives = arrival < meta[ROWS]
        time = rows[arrival, STAMP] if arrives else now
        position = rows[arrival, POSITION] if arrives else meta[COUNT]
        cause = position if arrives else -1
        while oldest < arrival and rows[oldest, STAMP] <= time - span:
            if rows[oldest, ENDER] >= position:
                expired, due = rows[oldest, POSITION], rows[oldest, STAMP] + span
                events = room_for(events, used, 1)
                used = write(events, used, cause, expired, EXPIRED, expired, due)
                events, used = _release(events, used, rows, oldest, arrival, position, cause, due)
            oldest += 1
        if not arrives:
            return events[:used].copy(), arrival, oldest
        if _ends_any(rows, arrival, time - span, time - span):
            events, used = _end(events, used, rows, arrival, time - span, time - span)
        if rows[arrival, ORIGIN] <= time - span:
            events = room_for(events, used, 1)
            used = write(events, used, position, position, INSERTED, position, time)
        arrival += 1
