"""Views and records that the wire's tests share, and strategies for bytes that producers may send."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import strategies as st

from skyline.view import View

HOTELS = View.of(
    "hotels", {"dimensions": {"price": "min", "rating": "max"}, "group_by": ["city"], "carry": ["name", "stars"]}
)
PLAIN = View.of("plain", {"dimensions": {"price": "min", "rating": "max"}})
WIDE = View.of("wide", {"dimensions": {"price": "min"}, "carry": [f"c{i}" for i in range(70)]})
"""More fields than the kernel can tell apart."""

FINE: dict[str, Any] = {"price": 80, "rating": 4.1, "city": "Paris", "name": "Ritz"}

_NAMES = ["price", "rating", "city", "name", "stars", "valid_from", "valid_until", "other", "$op", ""]
_NUMBERS = [
    "0", "-0", "-0.0", "0.0", "1.50", "1e2", "1E+2", "-1e-400", "1e400", "1e308", "-1.7976931348623157e308", "4.9e-324",
    "2.2250738585072011e-308", "9007199254740993", "18446744073709551616", "123456789012345678901234567890", "1" * 400,
    "00", "01", "-", "+1", ".5", "1.", "1e", "0x10", "NaN", "Infinity", "1_000", "1 2",
]  # fmt: skip
_STRINGS = [
    '"Paris"', '"Infinity"', '"-Infinity"', '"NaN"', '"add"', '"patch"', r'"\u00e9"', r'"\ud83d\ude00"', r'"\ud800"',
    r'"a\"b"', r'"a\\b"', r'"\/"', r'"\x"', '"tab\there"', '"\x7f"', '"é"', '"', '"2026-11-18T06:41:00Z"',
    '"2026-11-18T06:41:00.0005+14:00"', '"0001-01-01"', '"9999-12-31T23:59:59-23:59"', '"soon"',
]  # fmt: skip
_OTHERS = ["true", "false", "null", "nul", "[]", "{}", "[1,[2]]", '{"a":{"b":1}}', "[" * 300 + "]" * 300,
           "[" * 1000 + "]" * 1000, "[" * 2000 + "]" * 2000, ""]  # fmt: skip

spellings = st.sampled_from([*_NUMBERS, *_STRINGS, *_OTHERS])
spaces = st.sampled_from(["", "", "", " ", "\n\t", "\r", "\x0b", "\xa0"])


@st.composite
def objects_as_text(draw: st.DrawFn) -> bytes:
    """JSON objects, nearly: fields doubled, spelt with escapes, spaced oddly, followed by something."""
    fields = [("price", draw(spellings)), ("rating", "1"), ("city", '"Rome"')][draw(st.integers(0, 3)) :]
    fields += draw(st.lists(st.tuples(st.sampled_from(_NAMES), spellings), max_size=4))
    names = [draw(st.sampled_from([f'"{name}"', f'"{name}"', f'"{_escaped(name)}"'])) for name, _ in fields]
    gap = draw(spaces)
    body = ",".join(f"{gap}{name}{gap}:{gap}{value}{gap}" for name, (_, value) in zip(names, fields, strict=True))
    return (gap + "{" + body + draw(st.sampled_from(["}", "}", "}", "", ",}", "}}", "}x"])) + gap).encode()


def _escaped(name: str) -> str:
    return f"\\u{ord(name[0]):04x}{name[1:]}" if name else ""


scalars = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**63), 2**64 - 1),
    st.integers(0, 1000),
    st.text(max_size=4),
    st.booleans(),
    st.none(),
    st.sampled_from(["Paris", "Rome", "Infinity", "2026-01-01", "add", "patch"]),
    st.lists(st.integers(-5, 5), max_size=2),
)
likely = st.fixed_dictionaries(
    {"price": st.floats(-1e6, 1e6), "rating": st.floats(), "city": st.sampled_from(["Paris", "Rome", 7])},
    optional={"name": scalars, "stars": scalars, "valid_from": st.integers(-5, 5), "valid_until": st.integers(0, 9)},
)
values = st.one_of(
    likely.map(orjson.dumps),
    likely.map(lambda fields: orjson.dumps(fields, option=orjson.OPT_INDENT_2)),
    st.dictionaries(st.sampled_from(_NAMES), scalars).map(orjson.dumps),
    objects_as_text(),
    st.binary(max_size=40),
    st.none(),
)
keys = st.one_of(
    st.sampled_from([b"a", b"b", b"$tick", b"$x", b"", None, "é".encode(), b"\xc3", b"k" * 256, b"k" * 257]),
    st.binary(max_size=5),
)
