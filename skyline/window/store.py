"""The arrays of one window: made, outgrown, dumped and loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from skyline.errors import InvalidInput
from skyline.view import Floats, Ints
from skyline.window.append_kernels import append, retire
from skyline.window.history_kernels import first_position_after, record_rows
from skyline.window.layout import (
    CLOCK,
    COUNT,
    FAR,
    LIVE,
    OPEN_END,
    ROWS,
    TAIL,
    History,
    Index,
    Members,
    new_history,
    new_index,
    new_members,
)
from skyline.window.store_kernels import extract, extract_history, fill, fill_history

LEAST_ROWS: Final = 8192
"""Rows of a small window: starting afresh costs two calls from Python, which should come to nothing per element."""
LEAST_RING: Final = 1024
CHUNK: Final = 4096
"""Elements that standing queries may lag behind; the history holds that many more than the window."""
START: Final = -2 * FAR
"""The clock before any time was told: everything is later."""


class Store:
    """R_N with its index and stab tree, and P_N if a history is kept; all counters of the window.

    members, index and history are handed to kernels as they are. Rows are used up one per element; when none is left,
    `renew` moves the live ones, R of them, into fresh arrays with room for three times as many to come: O(log R) per
    element, amortised. It is what `load(dump())` does, too.
    """

    def __init__(self, dims: int, width: int, by_size: bool, keeps_history: bool) -> None:
        self.dims = dims
        self.width = width
        self.by_size = by_size
        self.keeps_history = keeps_history
        self._oldest = 0
        self.members: Members
        self.index: Index
        self._fill(np.empty((0, dims)), np.empty((4, 0), np.int64))
        self.members.meta[CLOCK] = START
        self.history: History = new_history(LEAST_RING if keeps_history else 16, dims)

    @property
    def count(self) -> int:
        """Elements appended so far."""
        return int(self.members.meta[COUNT])

    @property
    def live(self) -> int:
        """Elements of R_N."""
        return int(self.members.meta[LIVE])

    @property
    def slots(self) -> int:
        """Slots of the index in use, live or not."""
        return int(self.members.meta[TAIL])

    @property
    def clock(self) -> int:
        return int(self.members.meta[CLOCK])

    @property
    def now(self) -> int:
        """The stamp that the newest element has or would have: what is above now - n is in the window of n."""
        return self.count - 1 if self.by_size else self.clock

    @property
    def oldest(self) -> int:
        """The oldest position in the window; of a window by span only known with a history. O(log N)."""
        if self.by_size:
            return max(0, self.count - self.width)
        return int(first_position_after(self.history, self._oldest, self.count, self.now - self.width))

    def append(self, points: Floats, times: Ints, start: int, unit: tuple[int, ...]) -> int:
        """Appends points[start:] (inward) at these times until the rows are used up; returns how far it came."""
        first = int(self.members.meta[ROWS])
        if self.keeps_history:
            self._hold(len(points) - start)
        done = int(append(self.members, self.index, points, times, start, self.width, self.by_size, unit))
        if self.keeps_history:
            record_rows(self.members, self.history, first, points[start:], self.index.found)
        return done

    def advance(self, now: int) -> None:
        """Lets time pass; what a window by span no longer covers leaves R_N."""
        self.members.meta[CLOCK] = now
        if not self.by_size:
            retire(self.members, self.index, now - self.width)

    def renew(self) -> None:
        """Fresh arrays with the live rows first. O(R log R)."""
        meta = self.members.meta
        self._fill(*extract(self.members, self.index))
        for counter in (COUNT, CLOCK):
            self.members.meta[counter] = meta[counter]

    def _fill(self, points: Floats, columns: Ints) -> None:
        capacity = max(LEAST_ROWS, _power_of_two(4 * len(points)))
        self.members = new_members(capacity)
        self.index = new_index(capacity, self.dims)
        fill(self.members, self.index, points, columns)

    def _hold(self, more: int) -> None:
        """Lets the history take `more` elements. O(1) amortised for each."""
        needed = self.count + more - self._oldest
        if needed > self.history.time.size:
            held = extract_history(self.history, self._oldest, self.count)
            self.history = new_history(_power_of_two(needed), self.dims)
            fill_history(self.history, self._oldest, *held)

    def forget(self) -> None:
        """Lets the history overwrite what the window no longer covers: no standing query has yet to read it."""
        if self.keeps_history:
            self._oldest = self.oldest

    def dump(self) -> dict[str, Any]:
        """Everything as plain arrays."""
        points, columns = extract(self.members, self.index)
        state: dict[str, Any] = {
            "counters": np.array([self.count, self.clock]),
            "points": points,
            "positions": columns[0],
            "stamps": columns[1],
            "origins": columns[2],
            "parents": columns[3],
        }
        if self.keeps_history:
            held, past = extract_history(self.history, self.oldest, self.count)
            state |= {
                "history_points": held,
                "history_times": past[0],
                "history_ancestors": past[1],
                "history_enders": past[2],
            }
        return state

    def load(self, state: Mapping[str, Any]) -> None:
        """Takes over what `dump` gave; refuses what it cannot have given."""
        points = _array(state, "points", np.float64, (-1, self.dims))
        columns = _columns(state, ("positions", "stamps", "origins", "parents"), len(points))
        count, clock = _array(state, "counters", np.int64, (2,)).tolist()
        _check_members(points, columns, count)
        self._fill(points, columns)
        meta = self.members.meta
        meta[COUNT], meta[CLOCK] = count, clock
        if self.keeps_history:
            held = _array(state, "history_points", np.float64, (-1, self.dims))
            past = _columns(state, ("history_times", "history_ancestors", "history_enders"), len(held))
            _check_history(past, count)
            self._oldest = count - len(held)
            self.history = new_history(max(LEAST_RING, _power_of_two(len(held))), self.dims)
            fill_history(self.history, self._oldest, held, past)


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()


def _array(state: Mapping[str, Any], name: str, dtype: type, shape: tuple[int, ...]) -> Any:
    if name not in state:
        raise InvalidInput(f"the state of a window has no {name!r}")
    array = np.ascontiguousarray(state[name])
    fits = array.ndim == len(shape) and all(want in (-1, have) for want, have in zip(shape, array.shape, strict=True))
    if array.dtype != dtype or not fits:
        wanted, got = f"{np.dtype(dtype)} {shape}", f"{array.dtype} {array.shape}"
        raise InvalidInput(f"the state of a window: {name!r} must be {wanted}, got {got}")
    return array


def _columns(state: Mapping[str, Any], names: tuple[str, ...], length: int) -> Ints:
    return np.stack([_array(state, name, np.int64, (length,)) for name in names])


def _check_members(points: Floats, columns: Ints, count: int) -> None:
    positions, stamps, origins, parents = columns
    numbers = np.arange(len(points))
    sound = (
        count >= 0
        and not np.isnan(points).any()
        and bool((np.diff(positions) > 0).all())
        and bool((np.diff(stamps) >= 0).all())
        and bool(((positions >= 0) & (positions < count)).all())
        and bool((origins < stamps).all())
        and bool(((parents >= -1) & (parents < numbers)).all())
    )
    if not sound:
        raise InvalidInput("the state of a window contradicts itself: its members are not in order of age")


def _check_history(past: Ints, count: int) -> None:
    times, ancestors, enders = past
    positions = np.arange(count - times.size, count)
    sound = (
        times.size <= count
        and bool((np.diff(times) >= 0).all())
        and bool(((ancestors == -1) | ((ancestors >= count - times.size) & (ancestors < positions))).all())
        and bool(((enders >= positions) & ((enders < count) | (enders == OPEN_END))).all())
    )
    if not sound:
        raise InvalidInput("the state of a window contradicts itself: its history is not in order of age")
