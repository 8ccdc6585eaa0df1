"""`SkylineWindow`: the skyline of the newest n elements of a stream, for every n up to N, and of stretches between."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyline.errors import InvalidInput
from skyline.view import Dimensions, Floats, Ints, parse_duration
from skyline.window.check import check
from skyline.window.feeds import Feed, NewestFeed, StretchFeed
from skyline.window.layout import FAR
from skyline.window.stab_kernels import stab
from skyline.window.store import CHUNK, START, Store
from skyline.window.store_kernels import points_of, positions_of
from skyline.window.watch import Watch

FORMAT: Final = 1


class SkylineWindow:
    """The skyline over a sliding window: the newest `size` elements, or the newest `span` milliseconds.

    Elements are known by their positions in the stream, from 0. An element stamped t is in a window of n milliseconds
    from t until t + n, exclusive: `last(n)` at time T covers the times above T - n.

    >>> window = SkylineWindow({"price": "min", "volume": "max"}, size=3)
    >>> window.append([[10, 5], [9, 6], [8, 1], [11, 9]])
    >>> window.last(3), window.last(1)
    (array([1, 2, 3]), array([3]))
    """

    def __init__(
        self,
        dimensions: Mapping[str, str],
        *,
        size: int | None = None,
        span: int | str | None = None,
        history: bool = False,
    ) -> None:
        """Give `size`, or `span` (milliseconds, or a text such as "1h"); `history=True` for `between`.

        Memory: O(R) for the R elements that no younger one dominates, about log^d(N) / d! for independent data; with
        a history O(N).
        """
        if (size is None) == (span is None):
            raise InvalidInput("give either size (a number of elements) or span (milliseconds of event time)")
        self.dimensions = Dimensions.of(dimensions)
        self.by_size = size is not None
        self.width = _whole("size", size, FAR) if span is None else _whole("span", _milliseconds(span), FAR)
        self.history = bool(history)
        self._unit = (0,) * len(self.dimensions)
        self._store = Store(len(self.dimensions), self.width, self.by_size, self.history)
        self._watches: list[Watch] = []
        self._lag = 0

    @property
    def count(self) -> int:
        """Elements appended so far; the next one gets this position."""
        return self._store.count

    @property
    def clock(self) -> int | None:
        """The latest event time told, or None."""
        return None if self._store.clock == START else self._store.clock

    def append(self, points: npt.ArrayLike, at: npt.ArrayLike | None = None) -> None:
        """Appends (n, d) points, in dimension order; `at` is the event time of all or of each, never falling.

        A window by span needs `at`; a window by size only shows it in the logs of changes. All or nothing: bad input
        changes nothing. O(log R) and the two searches per element, O(1 + changes) per standing query.
        """
        inward = self.dimensions.inward(points)
        times = self._times(at, len(inward))
        for start in range(0, len(inward), CHUNK):
            self._append_chunk(inward[start : start + CHUNK], times[start : start + CHUNK])

    def advance(self, at: int) -> None:
        """Lets time pass: what is older than the span leaves, in order of time. A window by size keeps what it has."""
        now = int(self._times(_whole_number("at", at), 1)[0])
        self._store.advance(now)
        self._catch_up()

    def last(self, n: int | str) -> Ints:
        """Positions of the skyline of the newest n elements (or milliseconds), ascending.

        O(log R + s) in practice, O(log R + s log R) at worst, for s answers.
        """
        answer: Ints = stab(self._store.members, self._store.now - self._extent("n", n))
        return answer

    def between(self, n1: int | str, n2: int | str) -> Ints:
        """Positions of the skyline of the stretch from the n2-th newest to the n1-th newest element, both included.

        In a window by span: of the elements that are n1 - 1 to n2 - 1 milliseconds old. Needs `history=True`.
        """
        return StretchFeed(self._store, *self._extents(n1, n2)).members()

    def watch(self, n: int | str, *, log: bool = False) -> Watch:
        """A standing query for `last(n)`; `log=True` keeps every change for `Watch.changes`. O(s)."""
        return self._watch(NewestFeed(self._store, self._extent("n", n)), log)

    def watch_between(self, n1: int | str, n2: int | str, *, log: bool = False) -> Watch:
        """A standing query for `between(n1, n2)`; it keeps no candidates. Needs `history=True`."""
        near, wide = self._extents(n1, n2)
        return self.watch(wide, log=log) if near == 1 else self._watch(StretchFeed(self._store, near, wide), log)

    def unwatch(self, watch: Watch) -> None:
        """Ends a standing query; what it has gathered can still be read."""
        if watch not in self._watches:
            raise InvalidInput("this is not a watch of this window, or it has ended before")
        watch.end()
        self._watches.remove(watch)

    def retained(self) -> Ints:
        """Positions of R_N, ascending: the elements of the window that no younger one dominates. O(R).

        Only these can ever enter the skyline of the newest n, for any n.
        """
        answer: Ints = positions_of(self._store.members)
        return answer

    def kept(self) -> Ints:
        """Positions of all elements that are kept, ascending: R_N, or the whole window with a history. O(len)."""
        return np.arange(self._store.oldest, self.count) if self.history else self.retained()

    def __len__(self) -> int:
        """Elements that are kept."""
        return self.count - self._store.oldest if self.history else self._store.live

    def points(self, positions: npt.ArrayLike) -> Floats:
        """The points at these positions, as given: of elements that are kept."""
        given = np.asarray(positions)
        if given.size and given.dtype.kind not in "iu":
            raise InvalidInput(f"positions must be integers, got {given.dtype} such as {given.flat[0]!r}")
        wanted = given.astype(np.int64).ravel()
        inward: Floats = points_of(self._store.members, self._store.index, wanted)
        if self.history:
            held = (wanted >= self._store.oldest) & (wanted < self.count)
            ring = self._store.history
            inward[held] = ring.points[wanted[held] & (len(ring.points) - 1)]
        missing = np.isnan(inward[:, 0])
        if missing.any():
            kept = "in the window" if self.history else "retained: it has expired, or a younger element dominates it"
            raise InvalidInput(f"position {wanted[missing][0]} is not {kept}")
        return self.dimensions.outward(inward)

    def dump(self) -> dict[str, Any]:
        """The whole state as plain arrays, for `load`. Standing queries are not part of it: make them anew."""
        return {
            "format": np.array([FORMAT, self.by_size, self.width, self.history]),
            "names": np.array(self.dimensions.names),
            "directions": np.array(self.dimensions.directions),
            **self._store.dump(),
        }

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> SkylineWindow:
        """A window in the state that `dump` gave: it answers, and from now on changes, as the dumped one would."""
        try:
            form, by_size, width, history = (int(value) for value in state["format"])
            names, directions = (np.asarray(state[key]).tolist() for key in ("names", "directions"))
            dimensions = dict(zip(names, directions, strict=True))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"this is not the state of a window: {error!r}") from None
        if form != FORMAT:
            raise InvalidInput(f"the state of a window has format {form}, this version reads format {FORMAT}")
        extent = {"size": width} if by_size else {"span": width}
        window = cls(dimensions, history=bool(history), **extent)
        window._store.load(state)
        return window

    def _check(self) -> None:
        """Asserts every invariant of the structure. O(R^2)."""
        check(self._store)

    def _append_chunk(self, points: Floats, times: Ints) -> None:
        """At most CHUNK elements: the room that the history keeps for queries that lag behind."""
        if self._lag + len(points) > CHUNK:
            self._catch_up()
        self._lag += len(points)
        done = 0
        while True:
            done = self._store.append(points, times, done, self._unit)
            if done == len(points):
                return
            self._catch_up()
            self._store.renew()
            for watch in self._watches:
                watch.feed.seat()

    def _catch_up(self) -> None:
        """Lets every watch read its feed, so that what they all have seen can be forgotten."""
        for watch in self._watches:
            watch.read_feed()
        self._store.forget()
        self._lag = 0

    def _watch(self, feed: Feed, log: bool) -> Watch:
        watch = Watch(feed, self._store, log)
        self._watches.append(watch)
        return watch

    def _extent(self, name: str, n: int | str) -> int:
        return _whole(name, n if self.by_size else _milliseconds(n), self.width)

    def _extents(self, n1: int | str, n2: int | str) -> tuple[int, int]:
        if not self.history:
            raise InvalidInput("a stretch needs every element of the window: make the window with history=True")
        near, wide = self._extent("n1", n1), self._extent("n2", n2)
        if near > wide:
            raise InvalidInput(f"n1 must not exceed n2, got n1 = {near} and n2 = {wide}")
        return near, wide

    def _times(self, at: npt.ArrayLike | None, count: int) -> Ints:
        """The event time of each of `count` elements. Refuses what falls, here or behind the clock."""
        if at is None:
            if not self.by_size:
                raise InvalidInput("a window by span needs at, the event time of every element in milliseconds")
            return np.full(count, 0 if self.clock is None else self.clock, np.int64)
        given = np.asarray(at)
        if given.size == 0:
            given = given.astype(np.int64)  # an empty list has no type of its own
        if given.dtype.kind not in "iu" or given.ndim > 1 or (given.ndim == 1 and len(given) != count):
            raise InvalidInput(f"at must be one integer or {count} of them, got {given.dtype} of shape {given.shape}")
        if given.size and (given.max() > FAR or given.min() < -FAR):
            raise InvalidInput(f"at must lie within ±2^61 milliseconds, got {given.min()} to {given.max()}")
        times: Ints = np.broadcast_to(given, count).astype(np.int64)
        back = np.flatnonzero(np.diff(times, prepend=self._store.clock) < 0)
        if back.size:
            row = int(back[0])
            before = int(times[row - 1]) if row else self._store.clock
            raise InvalidInput(f"row {row}: at {times[row]} is before {before}; the clock does not run backwards")
        return times


def _milliseconds(duration: Any) -> Any:
    return parse_duration(duration) if isinstance(duration, str) else duration


def _whole_number(name: str, value: Any) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} must be an integer, got {value!r}") from None


def _whole(name: str, value: Any, limit: int) -> int:
    number = _whole_number(name, value)
    if not 1 <= number <= limit:
        raise InvalidInput(f"{name} must be 1 to {limit}, got {number}")
    return number
