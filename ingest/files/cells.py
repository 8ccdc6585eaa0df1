"""Columns of CSV text as columns of JSON text, in bulk: most columns are good as they are, and one pass shows it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Final

import orjson

from ingest.parts import BAD_TIME, event_time
from skyline.wire.rejects import Rejected

_NUMBER: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_ONE_NUMBER: Final = re.compile(_NUMBER)
_NUMBERS: Final = re.compile(rf"(?:{_NUMBER}\n)*+")
_DIGITS: Final = re.compile(r"-?[0-9]{1,16}")


def numbers(cells: Sequence[str]) -> Sequence[str]:
    """JSON of a dimension's cells. What is no number becomes a string, which the checker refuses by name."""
    joined = "\n".join(cells) + "\n"
    if joined.count("\n") == len(cells) and _NUMBERS.fullmatch(joined):
        return cells
    return [_number(cell) for cell in cells]


def instants(cells: Sequence[str]) -> Sequence[str]:
    """JSON of the cells of valid_from or valid_until: milliseconds, or text; null where empty."""
    # digits as a number again, not as they are: JSON has none that begin with 0
    return [str(int(cell)) if _DIGITS.fullmatch(cell) else texts([cell])[0] for cell in cells]


def texts(cells: Sequence[str]) -> Sequence[str]:
    """JSON strings of the cells; null where empty."""
    joined = "".join(cells)
    # what is not printable includes control characters, which JSON must escape
    if joined.isprintable() and '"' not in joined and "\\" not in joined:
        return [f'"{cell}"' if cell else "null" for cell in cells]
    return [json.dumps(cell, ensure_ascii=False) if cell else "null" for cell in cells]


def documents(cells: Sequence[str]) -> Sequence[str]:
    """Cells that are JSON already; what is none becomes a string. null where empty."""
    return [_document(cell) for cell in cells]


def times(name: str, cells: Sequence[str], now: int) -> tuple[list[int], dict[int, Rejected]]:
    """(event times in milliseconds, what could not be read)."""
    if all(map(str.isdecimal, cells)) and max(map(len, cells), default=0) <= 16:
        return list(map(int, cells)), {}
    moments: list[int] = []
    problems: dict[int, Rejected] = {}
    for index, cell in enumerate(cells):
        moment = _time(name, cell)
        if isinstance(moment, Rejected):
            problems[index], moment = moment, now
        moments.append(moment)
    return moments, problems


def _number(cell: str) -> str:
    if _ONE_NUMBER.fullmatch(cell):
        return cell
    try:
        value = float(cell)  # takes +1, .5, 007, blanks around it, inf; and 1_000, which is a mistake in data
    except ValueError:
        value = math.nan
    if math.isnan(value) or "_" in cell:
        return json.dumps(cell, ensure_ascii=False)
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return repr(value)


def _document(cell: str) -> str:
    if not cell:
        return "null"
    try:
        return orjson.dumps(orjson.loads(cell)).decode()  # on one line
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # the latter: nested too deeply
        return json.dumps(cell, ensure_ascii=False)


def _time(name: str, cell: str) -> int | Rejected:
    if not cell:
        return Rejected(BAD_TIME, f"{name} is empty: every row needs its event time")
    return event_time(name, int(cell) if _DIGITS.fullmatch(cell) else cell)
