"""What a request asks of a skyline, read from its parameters, with an error that teaches for every mistake."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from query.problems import Problem, bad_parameter
from skyline.view import View, parse_duration
from skyline.wire.fields import instant
from skyline.wire.rejects import Rejected

_COMPARISON: Final = ("<=", ">=", "<", ">", "=")
MAX_K: Final = 1000
MAX_NODES: Final = 10_000


@dataclass(frozen=True)
class Question:
    """Who takes part, in which space, how deep, in which order, how many; or the members of another time."""

    low: list[float | None] | None = None
    high: list[float | None] | None = None
    dims: tuple[str, ...] | None = None
    weights: list[float] | None = None
    reference: list[float | None] | None = None
    k: int = 1
    group: dict[str, str] = field(default_factory=dict)
    enumerate: bool = False
    approximate: int | None = None
    as_of: int | None = None
    last: int | None = None
    between: tuple[int, int] | None = None
    limit: int | None = None

    @property
    def plain(self) -> bool:
        """Whether it asks for the members of the view as it is."""
        parts = (self.low, self.high, self.dims, self.weights, self.reference)
        asks = self.k > 1 or self.enumerate or bool(self.group) or any(part is not None for part in parts)
        return not asks and not self.at_once

    @property
    def at_once(self) -> bool:
        """Whether its answer comes as a whole: of another time, of a window's part, or approximate."""
        return any(part is not None for part in (self.approximate, self.as_of, self.last, self.between))


class Reader:
    """Reads parameters for one view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._names = view.dimensions.names
        self._allowed = f"dimensions of {view.name}: {', '.join(self._names)}"
        shapes = "|".join(re.escape(name) for name in sorted(self._names, key=len, reverse=True))
        self._where = re.compile(rf"\s*({shapes})\s*(<=|>=|<|>|=)\s*(\S+)\s*\Z")

    def box(self, texts: Sequence[str]) -> tuple[list[float | None] | None, list[float | None] | None]:
        """The box of `where` parameters, both ends in it."""
        low: list[float | None] = [None] * len(self._names)
        high: list[float | None] = [None] * len(self._names)
        example = f"where={self._names[0]}<=100"
        for text in texts:
            match = self._where.match(text)
            if match is None:
                allowed = f"dimension, one of {' '.join(_COMPARISON)}, number; {self._allowed}"
                raise bad_parameter("where", f"{text!r} is no comparison", allowed, example)
            axis, value = self._names.index(match[1]), _number("where", match[3], example)
            if (match[2], value) in (("<", -math.inf), (">", math.inf)):
                raise bad_parameter("where", f"{text!r}: nothing is beyond infinity", self._allowed, example)
            least, most = _ends(match[2], value)
            low[axis], high[axis] = _larger(low[axis], least), _smaller(high[axis], most)
        for name, least_, most_ in zip(self._names, low, high, strict=True):
            if least_ is not None and most_ is not None and least_ > most_:
                raise bad_parameter("where", f"no value of {name} satisfies every condition", self._allowed, example)
        return (
            low if any(end is not None for end in low) else None,
            high if any(end is not None for end in high) else None,
        )

    def dims(self, text: str | None) -> tuple[str, ...] | None:
        if text is None:
            return None
        chosen = tuple(name.strip() for name in text.split(","))
        example = "dims=" + ",".join(self._names[:2])
        for name in chosen:
            if name not in self._names:
                raise bad_parameter("dims", f"{name!r} is no dimension", self._allowed, example)
        if len(set(chosen)) < len(chosen):
            raise bad_parameter("dims", f"{text!r} names a dimension twice", self._allowed, example)
        return chosen

    def weights(self, text: str | None) -> list[float] | None:
        """Weights by dimension; those that are not named count nothing."""
        if text is None:
            return None
        example = "rank=" + ",".join(f"{name}:0.5" for name in self._names[:2])
        given = self._pairs("rank", text, example)
        if any(weight < 0 or math.isinf(weight) for weight in given.values()):
            raise bad_parameter("rank", f"{text!r} has a weight below 0 or without bound", "weights from 0 on", example)
        return [given.get(name, 0.0) for name in self._names]

    def reference(self, text: str | None) -> list[float | None] | None:
        if text is None:
            return None
        example = f"near={self._names[0]}:100"
        given = self._pairs("near", text, example)
        if any(math.isinf(value) for value in given.values()):
            raise bad_parameter("near", f"{text!r} is infinitely far", "finite numbers", example)
        return [given.get(name) for name in self._names]

    def group(self, texts: Sequence[str]) -> dict[str, str]:
        fields = self._view.group_by
        example = f"group={fields[0]}:Paris" if fields else "none: this view has no groups"
        chosen: dict[str, str] = {}
        for text in texts:
            name, separator, value = text.partition(":")
            if not separator or name not in fields:
                allowed = f"field:value with a field of {', '.join(fields)}" if fields else "this view has no groups"
                raise bad_parameter("group", f"{text!r} names no group field", allowed, example)
            if chosen.setdefault(name, value) != value:
                raise bad_parameter("group", f"{name} is given twice", "each field once", example)
        return chosen

    def time(self, name: str, text: str | None) -> int | None:
        """Milliseconds since 1970, or ISO 8601."""
        if text is None:
            return None
        moment = instant(name, int(text) if re.fullmatch(r"-?\d{1,18}", text) else text)
        if isinstance(moment, Rejected):
            allowed = "milliseconds since 1970, or ISO 8601"
            detail = moment.message.removeprefix(f"{name}: ")
            raise bad_parameter(name, detail, allowed, f"{name}=2026-11-18T06:41:00Z")
        return moment

    def extent(self, name: str, text: str) -> int:
        """A number of elements, or for windows by span a duration."""
        window = self._view.window
        if window is None:
            allowed = "views with a window in views.toml"
            raise bad_parameter(name, "this view has no window", allowed, f"{name}=1000, of such a view")
        by_span, most = window.size is None, window.size or window.span or 0
        kind = "a duration up to the window's" if by_span else "a number of elements"
        try:
            extent = parse_duration(int(text) if text.isdigit() else text) if by_span else int(text)
        except ValueError:
            extent = 0
        if not 1 <= extent <= most:
            raise bad_parameter(name, f"{text!r} does not fit", f"{kind}, 1 to {most}", f"{name}={min(most, 1000)}")
        return extent

    def stretch(self, text: str | None) -> tuple[int, int] | None:
        if text is None:
            return None
        parts = text.split(",")
        if len(parts) != 2:
            raise bad_parameter("between", f"{text!r} is not a pair", "n1,n2 with n1 <= n2", "between=100,200")
        near, far = self.extent("between", parts[0].strip()), self.extent("between", parts[1].strip())
        if near > far:
            raise bad_parameter("between", f"{near} exceeds {far}", "n1,n2 with n1 <= n2", "between=100,200")
        return near, far

    def _pairs(self, parameter: str, text: str, example: str) -> dict[str, float]:
        given: dict[str, float] = {}
        for pair in text.split(","):
            name, separator, value = pair.strip().rpartition(":")
            if not separator or name not in self._names or name in given:
                raise bad_parameter(parameter, f"{pair!r} is not dimension:number", self._allowed, example)
            given[name] = _number(parameter, value, example)
        return given


def check_combination(question: Question) -> None:
    """Refuses combinations that have no meaning."""
    given = {
        "where": question.low or question.high, "dims": question.dims, "rank": question.weights,
        "near": question.reference, "k": question.k > 1 or None, "group": question.group or None,
        "enumerate": question.enumerate or None, "approximate": question.approximate, "as_of": question.as_of,
        "last": question.last, "between": question.between,
    }  # fmt: skip
    names = [name for name, value in given.items() if value is not None]
    for name, partners in _ALONE.items():
        others = [other for other in names if other != name and other not in partners]
        if name in names and others:
            allowed = f"{name} goes with " + (f"{', '.join(partners)} and limit" if partners else "limit only")
            raise Problem(
                400, "bad-combination", "These parameters do not go together", f"{name} with {others[0]}",
                parameter=name, allowed=allowed, example=_EXAMPLES[name],
            )  # fmt: skip


_ALONE: Final[dict[str, tuple[str, ...]]] = {
    "approximate": (),
    "as_of": ("group", "rank"),
    "last": ("rank",),
    "between": ("rank",),
}
_EXAMPLES: Final = {
    "approximate": "approximate=20", "as_of": "as_of=2026-11-18T06:41:00Z&limit=10", "last": "last=1000",
    "between": "between=100,200",
}  # fmt: skip


def matches(fields: dict[str, Any], wanted: dict[str, str]) -> bool:
    """Whether a group's fields have the wanted values: text as it is, numbers and booleans as JSON writes them."""
    return all(
        fields[name] == value or (not isinstance(fields[name], str) and orjson.dumps(fields[name]).decode() == value)
        for name, value in wanted.items()
    )


def _number(parameter: str, text: str, example: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise bad_parameter(parameter, f"{text!r} is not a number", "numbers, inf or -inf", example) from None
    if math.isnan(value):
        raise bad_parameter(parameter, "NaN has no order", "numbers, inf or -inf", example)
    return value


def _ends(comparison: str, value: float) -> tuple[float | None, float | None]:
    """The closed interval that satisfies a comparison."""
    return {
        "<=": (None, value),
        "<": (None, math.nextafter(value, -math.inf)),
        ">=": (value, None),
        ">": (math.nextafter(value, math.inf), None),
        "=": (value, value),
    }[comparison]


def _larger(known: float | None, given: float | None) -> float | None:
    return given if known is None else known if given is None else max(known, given)


def _smaller(known: float | None, given: float | None) -> float | None:
    return given if known is None else known if given is None else min(known, given)
