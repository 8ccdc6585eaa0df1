"""Values of single fields: numbers, instants, groups; how they are read, checked and written."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from skyline.wire.rejects import Rejected

INSTANT_LIMIT: Final = 2**53
"""Instants are milliseconds in ±2**53, about 285,000 years: exact in every JSON reader."""

_INFINITIES: Final = {"Infinity": math.inf, "-Infinity": -math.inf}


def number(name: str, value: Any) -> float | Rejected:
    """A dimension's value: a JSON number, or "Infinity" or "-Infinity", which JSON cannot write as numbers."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value) + 0.0
        except OverflowError:
            return Rejected("bad_value", f"{name}: {shown(value)} is out of the range of a 64-bit float")
    if isinstance(value, str) and value in _INFINITIES:
        return _INFINITIES[value]
    return Rejected("bad_value", f'{name} must be a number, "Infinity" or "-Infinity", got {shown(value)}')


def instant(name: str, value: Any) -> int | Rejected:
    """Milliseconds since 1970: an integer, or an ISO 8601 string (UTC where it names no offset)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) <= INSTANT_LIMIT:
            return value
        return Rejected("bad_interval", f"{name}: {value} is outside ±2**53 milliseconds")
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return Rejected("bad_interval", f"{name}: {shown(value)} is not ISO 8601, such as 2026-11-18T06:41:00Z")
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1000)
    return Rejected("bad_interval", f"{name} must be milliseconds or ISO 8601, got {shown(value)}")


def group_value(name: str, value: Any) -> Any | Rejected:
    """A group field's value: a string, an integer or a boolean, for which equality is beyond doubt."""
    if isinstance(value, (str, bool, int)):
        return value
    return Rejected("bad_value", f"{name} must be a string, an integer or a boolean, got {shown(value)}")


def written(value: float) -> bytes:
    """JSON of a dimension's value."""
    if math.isinf(value):
        return b'"Infinity"' if value > 0 else b'"-Infinity"'
    return repr(value).encode()


def jsonable(value: Any) -> Any:
    """The value as JSON can write it: infinite floats as strings."""
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def shown(value: Any) -> str:
    """A value as it appears in a message: as JSON, cut at 60 characters."""
    try:
        text = orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        text = _represented(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _represented(value: Any) -> str:
    try:
        return repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deeply to be shown"
