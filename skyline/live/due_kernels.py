# mypy: ignore-errors
"""What falls due, when: a heap over (time, key) in which each object has at most one entry and knows its place.

times, slots (capacity,) hold the heap; places (capacity,) has by slot 1 + its place in the heap, 0 if it has none. This
is an array of its own, small enough to stay in a cache, because every step of an entry through the heap writes to it.
size (1,) is the number of entries. Every operation is O(log n).
"""

from __future__ import annotations

from numba import njit

from skyline.live.keys_kernels import key_before
from skyline.view import NEVER

_FOUR = 4
"""Children per node: half the depth of a binary heap, and the children share a cache line."""


@njit(cache=True)
def schedule(times, slots, size, places, order, x, time):
    """Sets the time at which x falls due; `NEVER` takes it out."""
    place = places[x] - 1
    if time == NEVER:
        if place >= 0:
            _take_out(times, slots, size, places, order, place)
        return
    if place < 0:
        place = size[0]
        size[0] += 1
    elif times[place] == time:
        return
    times[place] = time
    slots[place] = x
    _settle(times, slots, size, places, order, place)


@njit(cache=True)
def _take_out(times, slots, size, places, order, place):
    places[slots[place]] = 0
    size[0] -= 1
    last = size[0]
    if place != last:
        times[place] = times[last]
        slots[place] = slots[last]
        _settle(times, slots, size, places, order, place)


@njit(cache=True)
def _before(times, slots, order, time, x, place):
    """Whether (time, x) comes before the entry at this place."""
    if time != times[place]:
        return time < times[place]
    return key_before(order, x, slots[place])


@njit(cache=True)
def _settle(times, slots, size, places, order, place):
    """Moves the entry at this place up or down to where it belongs."""
    time, x = times[place], slots[place]
    while place > 0:
        up = (place - 1) // _FOUR
        if not _before(times, slots, order, time, x, up):
            break
        times[place] = times[up]
        slots[place] = slots[up]
        places[slots[place]] = place + 1
        place = up
    while _FOUR * place + 1 < size[0]:
        least = _FOUR * place + 1
        for child in range(least + 1, min(least + _FOUR, size[0])):
            if _before(times, slots, order, times[child], slots[child], least):
                least = child
        if _before(times, slots, order, time, x, least):
            break
        times[place] = times[least]
        slots[place] = slots[least]
        places[slots[place]] = place + 1
        place = least
    times[place] = time
    slots[place] = x
    places[x] = place + 1
