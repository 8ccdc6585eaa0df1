"""Changes and members: golden bytes, and reading back what was written."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyline.errors import InvalidInput
from skyline.view import View
from skyline.wire.changes import ChangeWriter, read_change, read_member
from skyline.wire.rejects import Rejected, cut_to_fit

GOLDEN = Path(__file__).parent / "golden"
HOTELS = View.of("hotels", {"dimensions": {"price": "min", "rating": "max"}, "group_by": ["city"], "carry": ["name"]})
EXTRAS = b',"group":{"city":"Paris"},"carry":{"name":"Ritz"}'


def test_golden_change() -> None:
    value = ChangeWriter(HOTELS).change(
        812, "enter", "h7", (80.0, math.inf), EXTRAS, "promoted", "h2", 1763450000123, 5531, 14
    )
    assert value + b"\n" == (GOLDEN / "change.json").read_bytes()


def test_golden_member() -> None:
    value = ChangeWriter(HOTELS).member(812, "h7", (80.0, 4.1), EXTRAS, 1763450000123, 5531)
    assert value + b"\n" == (GOLDEN / "member.json").read_bytes()


def test_golden_reject() -> None:
    headers = Rejected("bad_json", "the value is not JSON").headers("hotels.updates", 0, 17)
    lines = b"".join(name.encode() + b": " + value + b"\n" for name, value in headers)
    assert lines == (GOLDEN / "reject.headers").read_bytes()


@given(
    st.text(min_size=1, max_size=20).filter(lambda text: text[0] < "\ud800" or text[0] > "\udfff"),
    st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)),
)
def test_what_is_written_is_read_back(key: str, point: tuple[float, float]) -> None:
    change = read_change(ChangeWriter(HOTELS).change(1, "move", key, point, EXTRAS, "moved", key, -5, 9, 3))
    assert (change.key, change.by, tuple(change.point.values())) == (key, key, point)
    assert (change.group, change.carry) == ({"city": "Paris"}, {"name": "Ritz"})
    member = read_member(ChangeWriter(HOTELS).member(1, key, point, b"", 4, 9))
    assert (member.key, tuple(member.point.values()), member.group) == (key, point, {})


@pytest.mark.parametrize("value", [b"", b"[]", b"{}", b'{"seq":1,"point":{"price":"x"}}'])
def test_other_bytes_are_refused(value: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_change(value)


def test_a_reject_that_is_too_large_is_cut_and_says_so() -> None:
    assert cut_to_fit(b"key", b"value", 8) == (b"key", b"value", [])
    assert cut_to_fit(b"key", b"values", 8) == (b"key", b"value", [("cut", b"key 3, value 6 bytes")])
    assert cut_to_fit(None, b"123456789", 8) == (None, b"12345678", [("cut", b"key 0, value 9 bytes")])
    assert cut_to_fit(b"123456789", None, 8) == (b"1234", None, [("cut", b"key 9, value 0 bytes")])
