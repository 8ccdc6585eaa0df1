# mypy: ignore-errors
"""Standing (n1, n2)-of-N queries, whose algorithm the paper leaves out.

Such a query is a standing n-of-N query on the same stream, n1 - 1 later. What an arrival does to the window that
ends with it is in the history: whom it ended, who dominates it, whom the oldest element releases. So the query reads
that when the element comes to be the n1-th newest. It keeps two cursors and no candidates. Lists run from young to
old: what has fallen out of the ring is at their ends, and never reached.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from skyline.window.layout import DOMINATED, EVENT_COLUMNS, EXPIRED, INSERTED, OPEN_END, PROMOTED
from skyline.window.standing_kernels import room_for, turn_round, write


@njit(cache=True)
def _release(events, used, history, parent, arriving, alive_from, cause, at):
    """Enters those that an expired element critically dominated: that had come, and that nothing had ended."""
    mask = history.time.size - 1
    first = used
    child = history.fore[parent & mask, 0]
    while child >= 0:
        if child < arriving and history.ender[child & mask] >= alive_from:
            events = room_for(events, used, 1)
            used = write(events, used, cause, child, PROMOTED, parent, at)
        child = history.fore[child & mask, 1]
    turn_round(events, first, used)
    return events, used


@njit(cache=True)
def _end(events, used, history, arriving, left, before, cause, at):
    """Takes out the members from `left` on that the arriving element ended; members had no ancestor from `before`."""
    mask = history.time.size - 1
    first = used
    other = history.back[arriving & mask, 0]
    while other >= left:
        if history.ancestor[other & mask] < before:
            events = room_for(events, used, 1)
            used = write(events, used, cause, other, DOMINATED, arriving, at)
        other = history.back[other & mask, 1]
    turn_round(events, first, used)
    return events, used


@njit(cache=True)
def _enter(events, used, history, arriving, left, cause, at):
    """The arriving element enters, if no element of the stretch dominates it."""
    place = arriving & (history.time.size - 1)
    if history.ancestor[place] < left and history.ender[place] != arriving:
        events = room_for(events, used, 1)
        used = write(events, used, cause, arriving, INSERTED, arriving, at)
    return events, used


@njit(cache=True)
def slide_delayed(history, near, wide, seen, count):
    """Events of the query (near, wide) of a window by size, for the arrivals [seen, count).

    Each brings one element into the stretch and pushes one out of it: who leaves comes first, then who enters, each
    by position.
    """
    mask = history.time.size - 1
    events, used = np.empty((64, EVENT_COLUMNS), np.int64), 0
    for arrival in range(seen, count):
        arriving, oldest = arrival + 1 - near, arrival - wide
        if arriving < 0:
            continue
        left, time = max(oldest + 1, 0), history.time[arrival & mask]
        expires = oldest >= 0 and history.ender[oldest & mask] >= arriving
        if expires:
            events = room_for(events, used, 1)
            used = write(events, used, arrival, oldest, EXPIRED, oldest, time)
        events, used = _end(events, used, history, arriving, left, max(oldest, 0), arrival, time)
        if expires:
            events, used = _release(events, used, history, oldest, arriving, arriving + 1, arrival, time)
        events, used = _enter(events, used, history, arriving, left, arrival, time)
    return events[:used].copy()


@njit(cache=True)
def pass_time_delayed(history, near, wide, arriving, oldest, seen, count, now):
    """Events of the query (near, wide) of a window by span up to `now`, and both cursors.

    An element comes into the stretch near - 1 after its stamp and leaves it wide after its stamp, each at its own
    time; at the same time, leaving is first. [seen, count) are the arrivals that let time pass: causes.
    """
    mask = history.time.size - 1
    events, used = np.empty((64, EVENT_COLUMNS), np.int64), 0
    while True:
        comes = history.time[arriving & mask] + near - 1 if arriving < count else OPEN_END
        goes = history.time[oldest & mask] + wide if oldest < arriving else OPEN_END
        due = min(comes, goes)
        if due > now:
            return events[:used].copy(), arriving, oldest
        while seen < count and history.time[seen & mask] < due:
            seen += 1
        cause = seen if seen < count else -1
        if goes <= comes:
            if history.ender[oldest & mask] >= arriving:
                events = room_for(events, used, 1)
                used = write(events, used, cause, oldest, EXPIRED, oldest, goes)
                events, used = _release(events, used, history, oldest, arriving, arriving, cause, goes)
            oldest += 1
        else:
            events, used = _end(events, used, history, arriving, oldest, oldest, cause, comes)
            events, used = _enter(events, used, history, arriving, oldest, cause, comes)
            arriving += 1
