"""What a view is: which fields are minimised, maximised, grouped, carried, and over which window.

Directions are normalised once, on the way in: inside the library smaller is always better. `Dimensions` holds the
signs and does the two conversions; everything else in the library sees normalised points only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyline.errors import InvalidInput

MAX_DIMENSIONS: Final = 16
NEVER: Final = np.iinfo(np.int64).max
"""`valid_until` of an object that does not expire."""

ENGINES: Final = ("forest", "esc", "lookout", "recompute")
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Directions = Sequence[str] | Mapping[str, str] | None
"""What bare arrays are given with: "min" or "max" per column, or a mapping that also names them; None: all "min"."""

_SIGNS: Final = {"min": 1.0, "max": -1.0}
_VIEW_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}\Z")
_TOPIC_NAME: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,249}\Z")
_SPAN: Final = re.compile(r"(\d+)\s*(ms|s|m|h|d)\Z")
_SPAN_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True)
class Dimensions:
    """Named dimensions with their directions; converts points to and from "smaller is better".

    >>> dims = Dimensions.of({"price": "min", "rating": "max"})
    >>> dims.inward([[80, 4.1]])
    array([[80. , -4.1]])
    """

    names: tuple[str, ...]
    directions: tuple[str, ...]

    @classmethod
    def of(cls, directions: Mapping[str, str]) -> Dimensions:
        """Dimensions from `{name: "min" | "max"}`; refuses none, more than 16, and unknown directions."""
        if not isinstance(directions, Mapping):
            raise InvalidInput(f'dimensions must map names to "min" or "max", got {directions!r}')
        if not 1 <= len(directions) <= MAX_DIMENSIONS:
            raise InvalidInput(f"a view has 1 to {MAX_DIMENSIONS} dimensions, got {len(directions)}")
        for name, direction in directions.items():
            if not isinstance(name, str) or not name:
                raise InvalidInput(f"a dimension's name must be a non-empty string, got {name!r}")
            if not isinstance(direction, str) or direction not in _SIGNS:
                raise InvalidInput(f'dimension {name!r}: direction must be "min" or "max", got {direction!r}')
        return cls(tuple(directions), tuple(directions.values()))

    @classmethod
    def unnamed(cls, directions: Directions, count: int | None = None) -> Dimensions:
        """Dimensions of a bare (n, `count`) array; `directions` defaults to all "min", a mapping also names them.

        Without a count there are as many as directions, or one.
        """
        if isinstance(directions, str | Set) or not isinstance(directions, Iterable | None):
            raise InvalidInput(f'directions must be "min" or "max" for each dimension, in a list, got {directions!r}')
        chosen = ["min"] * (1 if count is None else count) if directions is None else list(directions)
        if count is not None and len(chosen) != count:
            raise InvalidInput(f"{len(chosen)} directions given for points of {count} dimensions")
        if isinstance(directions, Mapping):
            return cls.of(directions)
        return cls.of({f"d{i}": direction for i, direction in enumerate(chosen)})

    @property
    def signs(self) -> Floats:
        return np.array([_SIGNS[direction] for direction in self.directions])

    def __len__(self) -> int:
        return len(self.names)

    def inward(self, points: npt.ArrayLike) -> Floats:
        """A fresh, C-contiguous (n, d) array in which smaller is better. Refuses NaN and wrong shapes. O(nd)."""
        array = numbers(points)
        if array.size == 0 and array.ndim <= 2:
            array = array.reshape(0, len(self))
        if array.ndim != 2 or array.shape[1] != len(self):
            raise InvalidInput(f"points must have shape (n, {len(self)}), got {array.shape}")
        # adding 0.0 turns -0.0 into 0.0, so that equal points are equal bytes
        inward: Floats = np.ascontiguousarray(array * self.signs + 0.0)
        if np.isnan(inward).any():
            row, column = np.argwhere(np.isnan(inward))[0]
            raise InvalidInput(f"row {row}: {self.names[column]} is NaN, which has no order")
        return inward

    def outward(self, inward: Floats) -> Floats:
        """Undoes `inward`. O(nd)."""
        outward: Floats = inward * self.signs + 0.0
        return outward


def numbers(points: npt.ArrayLike) -> Floats:
    """The points as float64. Refuses rows of unequal length, text and dates, also where they look like numbers.

    What is masked becomes NaN, which nobody takes.
    """
    try:
        array = np.asarray(points)
        wrong = array.dtype.kind not in "biufO" or (array.dtype.kind == "O" and any(map(_is_text, array.flat)))
        if not wrong:
            given = np.asarray(array, np.float64)
            return np.where(points.mask, np.nan, given) if isinstance(points, np.ma.MaskedArray) else given
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"points must be numbers: {error}") from None
    raise InvalidInput(f"points must be numbers, got {array.dtype} such as {array.flat[0]!r}")


def sequence(name: str, given: npt.ArrayLike) -> npt.NDArray[Any]:
    """An array of what was given; refuses entries of unequal length."""
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InvalidInput(f"{name} must be a sequence: {error}") from None


def positive(name: str, value: Any) -> int:
    """The value as an int, if it is an integer of at least 1; one of more than 64 bits as the most that they hold."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidInput(f"{name} must be an integer of at least 1, got {value!r}")
    return min(int(value), NEVER)


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes)


@dataclass(frozen=True)
class Window:
    """A sliding window: the newest `size` elements, or the newest `span` milliseconds of event time."""

    size: int | None = None
    span: int | None = None
    watch: tuple[int, ...] = ()

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Window:
        if not isinstance(table, Mapping):
            raise InvalidInput(f"window must be a table such as {{ size = 1000 }}, got {table!r}")
        unknown = set(table) - {"size", "span", "watch"}
        if unknown:
            raise InvalidInput(f"window: unknown key {sorted(unknown)[0]!r}; allowed: size, span, watch")
        if ("size" in table) == ("span" in table):
            raise InvalidInput("window: give either size (a count) or span (a duration such as '1h')")
        size = table.get("size")
        if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
            raise InvalidInput(f"window: size must be a positive integer, got {size!r}")
        span = parse_duration(table["span"]) if "span" in table else None
        limit = size if size is not None else span
        read = parse_duration if size is None else _count
        watched = table.get("watch", [])
        if not isinstance(watched, list):
            raise InvalidInput(f"window: watch must be a list such as [1000, 10000], got {watched!r}")
        watch = tuple(read(entry) for entry in watched)
        for n in watch:
            if not 1 <= n <= (limit or 0):
                raise InvalidInput(f"window: watch {n} lies outside 1 to {limit}, the window itself")
            if watch.count(n) > 1:
                raise InvalidInput(f"window: watch names {n} twice")
        return cls(size, span, watch)

    def label(self, n: int) -> str:
        """The newest n, as topics name it: `1000`, or a duration in its largest whole unit, such as `90s`."""
        if self.span is None:
            return str(n)
        unit = max((name for name, length in _SPAN_MS.items() if n % length == 0), key=_SPAN_MS.__getitem__)
        return f"{n // _SPAN_MS[unit]}{unit}"


@dataclass(frozen=True)
class View:
    """One entry of views.toml."""

    name: str
    dimensions: Dimensions
    group_by: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    window: Window | None = None
    engine: str = "forest"
    coalesce: bool = False
    topics: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, table: Mapping[str, Any]) -> View:
        """A view from its table in views.toml. Every mistake names the view, the key and what is allowed."""
        try:
            return _view_of(name, table)
        except InvalidInput as error:
            raise InvalidInput(f"view {name!r}: {error}") from None

    def topic(self, kind: str) -> str:
        """Name of the topic of this kind: updates, changes, skyline, rejected, or `changes.last-N` of a watch.

        The topics of watches are named after the topic of changes, wherever that is.
        """
        base, dot, watch = kind.partition(".")
        return self.topics.get(base, f"{self.name}.{base}") + dot + watch

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of all topics that the view has."""
        return (*TOPIC_KINDS, *self.watch_kinds.values())

    @property
    def watch_kinds(self) -> dict[int, str]:
        """The kind of topic that tells the changes of each watch, by its n."""
        window = self.window
        return {n: f"changes.last-{window.label(n)}" for n in window.watch} if window else {}


TOPIC_KINDS: Final = ("updates", "changes", "skyline", "rejected")
_VIEW_KEYS: Final = frozenset({"dimensions", "group_by", "carry", "window", "engine", "coalesce", *TOPIC_KINDS})


def parse_duration(text: Any) -> int:
    """Milliseconds of "90s", "1h", "250 ms" or a plain number of milliseconds.

    >>> parse_duration("1h")
    3600000
    """
    if isinstance(text, int) and not isinstance(text, bool) and text > 0:
        return text
    match = _SPAN.match(text) if isinstance(text, str) else None
    if match is None or int(match[1]) == 0:
        raise InvalidInput(f"a duration is a positive number and one of ms, s, m, h, d (such as '1h'), got {text!r}")
    return int(match[1]) * _SPAN_MS[match[2]]


def views_of(document: Mapping[str, Any]) -> dict[str, View]:
    """All views of a parsed views.toml, by name."""
    if not document:
        raise InvalidInput("no view is defined: add a table such as [hotels] with its dimensions")
    views = {name: View.of(name, table) for name, table in document.items()}
    writers: dict[str, str] = {}
    for view in views.values():
        for kind in (kind for kind in view.kinds if kind != "updates"):
            topic, writer = view.topic(kind), f"{view.name}.{kind}"
            if writers.setdefault(topic, writer) != writer:
                raise InvalidInput(f"view {view.name!r}: topic {topic!r} is written by {writers[topic]} already")
    for view in views.values():
        topic = view.topic("updates")
        if topic in writers:
            raise InvalidInput(f"view {view.name!r}: topic {topic!r} of its updates is written by {writers[topic]}")
    return views


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInput(f"window: watch must list integers, got {value!r}")
    return value


def _names(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = table.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(f"{key} must be a list of field names, got {names!r}")
    return tuple(names)


def _refuse_what_windows_lack(table: Mapping[str, Any]) -> None:
    if table.get("group_by"):
        raise InvalidInput("a window has no group_by: its newest elements are those of the whole stream")
    if table.get("coalesce"):
        raise InvalidInput("a window has no coalesce: its changes are told one by one")
    if "engine" in table:
        raise InvalidInput("a window has no engine to choose")


def _view_of(name: str, table: Mapping[str, Any]) -> View:
    if not _VIEW_NAME.match(name):
        raise InvalidInput("a view's name is 1 to 100 letters, digits, - or _")
    if not isinstance(table, Mapping):
        raise InvalidInput(f"expected a table, got {table!r}")
    unknown = set(table) - _VIEW_KEYS
    if unknown:
        raise InvalidInput(f"unknown key {sorted(unknown)[0]!r}; allowed: {', '.join(sorted(_VIEW_KEYS))}")
    if "dimensions" not in table:
        raise InvalidInput('dimensions are missing, such as { price = "min", rating = "max" }')
    dimensions = Dimensions.of(table["dimensions"])
    group_by, carry = _names(table, "group_by"), _names(table, "carry")
    fields = [*dimensions.names, *group_by, *carry]
    for place in fields:
        if fields.count(place) > 1:
            raise InvalidInput(f"field {place!r} is named twice among dimensions, group_by and carry")
        if place.startswith("$") or place in ("valid_from", "valid_until"):
            raise InvalidInput(f"field {place!r} has a meaning of its own in updates; rename it")
    engine = table.get("engine", "forest")
    if engine not in ENGINES:
        raise InvalidInput(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    coalesce = table.get("coalesce", False)
    if not isinstance(coalesce, bool):
        raise InvalidInput(f"coalesce must be true or false, got {coalesce!r}")
    topics = {kind: table[kind] for kind in TOPIC_KINDS if kind in table}
    for kind, topic in topics.items():
        if not isinstance(topic, str) or not _TOPIC_NAME.match(topic):
            raise InvalidInput(f"{kind} must be a topic name (letters, digits, . _ -), got {topic!r}")
    window = Window.of(table["window"]) if "window" in table else None
    if window is not None:
        _refuse_what_windows_lack(table)
    return View(name, dimensions, group_by, carry, window, engine, coalesce, topics)
