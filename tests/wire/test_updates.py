"""Updates: the reference reader says what is wrong, and the kernel never disagrees with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyline.view import NEVER, View
from skyline.wire.decode import Decoded, UpdateDecoder
from skyline.wire.modify import modified
from skyline.wire.plain_kernels import _number
from skyline.wire.records import Records
from skyline.wire.rejects import REASONS, Rejected
from skyline.wire.updates import ALWAYS, Delete, Modification, Tick, Upsert, group_of, read_update, write_update

HOTELS = View.of(
    "hotels", {"dimensions": {"price": "min", "rating": "max"}, "group_by": ["city"], "carry": ["name", "stars"]}
)
PLAIN = View.of("plain", {"dimensions": {"price": "min", "rating": "max"}})
FINE: dict[str, Any] = {"price": 80, "rating": 4.1, "city": "Paris", "name": "Ritz"}


def rejected(fields: Any, key: bytes | None = b"h1") -> Rejected:
    value = fields if isinstance(fields, bytes) else orjson.dumps(fields)
    result = read_update(HOTELS, key, value)
    assert isinstance(result, Rejected)
    assert result.reason in REASONS
    return result


def test_a_whole_record() -> None:
    result = read_update(HOTELS, b"h1", orjson.dumps({**FINE, "valid_until": "2026-11-18T06:41:00Z", "other": [1]}))
    assert result == (
        "h1",
        Upsert(
            (80.0, 4.1),
            ALWAYS,
            1794984060000,
            '"Paris"',
            b',"group":{"city":"Paris"},"carry":{"name":"Ritz","stars":null}',
        ),
    )


def test_ticks_and_deletes() -> None:
    assert read_update(HOTELS, b"$tick", None) == ("$tick", Tick())
    assert read_update(HOTELS, b"h1", None) == ("h1", Delete())


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        ({"price": None}, "bad_value", "price must be a number"),
        ({"price": "12"}, "bad_value", '"12"'),
        ({"price": True}, "bad_value", "true"),
        ({"city": 2.5}, "bad_value", "city must be a string, an integer or a boolean"),
        ({"valid_until": "soon"}, "bad_interval", "ISO 8601"),
        ({"valid_until": 2**60}, "bad_interval", "2**53"),
        ({"valid_from": 5, "valid_until": 5}, "bad_interval", "not before"),
        ({"$op": "divide"}, "bad_op", "add, multiply, average, patch"),
        ({"$op": "add"}, "bad_op", "dimensions only"),
    ],
)
def test_messages_name_field_and_value(change: dict[str, Any], reason: str, words: str) -> None:
    problem = rejected({**FINE, **change})
    assert problem.reason == reason
    assert words in problem.message


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"{", "bad_json"),
        (b"[1]", "not_an_object"),
        (b'{"price":1e999,"rating":1,"city":"x"}', "bad_json"),
        (b'{"price":NaN,"rating":1,"city":"x"}', "bad_json"),
        (b"[" * 5000 + b"]" * 5000, "bad_json"),
        (b'{"price":1}', "missing_field"),
        (b'{"price":1,"rating":2}', "missing_field"),
        (b'"' + b"x" * (1 << 20) + b'"', "too_large"),
        (b'{"price":1,"rating":2,"city":"\xff"}', "bad_json"),
    ],
)
def test_values_that_are_no_updates(value: bytes, reason: str) -> None:
    assert rejected(value).reason == reason


@pytest.mark.parametrize("key", [None, b"", b"x" * 257, b"\xff\xfe", b"$other"])
def test_bad_keys(key: bytes | None) -> None:
    assert rejected(FINE, key).reason == "bad_key"


def test_infinity_is_a_value_and_survives_the_wire() -> None:
    value = write_update({**FINE, "price": -math.inf})
    result = read_update(HOTELS, b"h1", value)
    assert isinstance(result, tuple)
    assert isinstance(result[1], Upsert)
    assert result[1].point == (-math.inf, 4.1)


@pytest.mark.parametrize(
    ("op", "given_price", "expected"), [("add", 5, 85.0), ("multiply", 0.5, 40.0), ("average", 20, 50.0)]
)
def test_modifications(op: str, given_price: float, expected: float) -> None:
    old = Upsert((80.0, 4.1), 1, 9, '"Paris"', b',"group":{"city":"Paris"},"carry":{"name":"Ritz","stars":3}')
    new = modified(HOTELS, old, Modification(op, {"price": given_price}))
    assert new == Upsert((expected, 4.1), 1, 9, old.group, old.extras)


def test_patch_sets_only_what_is_given() -> None:
    old = Upsert((80.0, math.inf), 1, 9, '"Paris"', b',"group":{"city":"Paris"},"carry":{"name":"Ritz","stars":3}')
    new = modified(HOTELS, old, Modification("patch", {"city": "Rome", "stars": 5, "valid_until": None}))
    assert new == Upsert(
        (80.0, math.inf), 1, int(NEVER), '"Rome"', b',"group":{"city":"Rome"},"carry":{"name":"Ritz","stars":5}'
    )
    assert isinstance(new, Upsert)
    assert group_of(HOTELS, new.extras) == new.group


def test_a_modification_without_a_number_as_result_is_refused() -> None:
    result = modified(PLAIN, Upsert((math.inf, 1.0)), Modification("add", {"price": "-Infinity"}))
    assert isinstance(result, Rejected)


names = st.sampled_from(["price", "rating", "city", "name", "stars", "valid_from", "valid_until", "other", "$op"])
scalars = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**63), 2**64 - 1),
    st.integers(0, 1000),
    st.text(max_size=4),
    st.booleans(),
    st.none(),
    st.sampled_from(["Paris", "Rome", "Infinity", "2026-01-01", "add", "patch"]),
    st.lists(st.integers(), max_size=2),
)
likely = st.fixed_dictionaries(
    {"price": st.floats(-1e6, 1e6), "rating": st.floats(), "city": st.sampled_from(["Paris", "Rome", 7])},
    optional={"name": scalars, "stars": scalars, "valid_from": st.integers(-5, 5), "valid_until": st.integers(0, 9)},
)
values = st.one_of(
    likely.map(lambda fields: orjson.dumps(fields)),
    likely.map(lambda fields: orjson.dumps(fields, option=orjson.OPT_INDENT_2)),
    st.dictionaries(names, scalars).map(lambda fields: orjson.dumps(fields)),
    st.binary(max_size=40),
    st.none(),
)
keys = st.one_of(st.sampled_from([b"a", b"b", b"$tick", b"$x", b"", None, "é".encode()]), st.binary(max_size=5))


def same(decoded: Decoded, row: int, view: View) -> None:
    """Row of a decoded batch equals what the reference reader says of that record."""
    expected = read_update(view, decoded.records.key(row), decoded.records.value(row))
    if isinstance(expected, Rejected):
        assert decoded.rejected[row] == expected
        assert not decoded.deleted[row]
        return
    assert row not in decoded.rejected
    key, update = expected
    assert decoded.keys[row] == key
    assert decoded.deleted[row] == isinstance(update, Delete)
    assert (row in decoded.ticks) == isinstance(update, Tick)
    assert decoded.modifications.get(row) == (update if isinstance(update, Modification) else None)
    if isinstance(update, Upsert):
        assert tuple(decoded.points[row]) == update.point
        assert not np.signbit(decoded.points[row][decoded.points[row] == 0]).any()
        assert (decoded.valid_from[row], decoded.valid_until[row]) == (update.valid_from, update.valid_until)
        if decoded.groups is not None:
            assert decoded.groups[row] == update.group
        if decoded.extras is not None:
            given_fields = orjson.loads(b"{" + decoded.extras[row][1:] + b"}")
            assert given_fields == orjson.loads(b"{" + update.extras[1:] + b"}")


@given(st.lists(st.tuples(keys, values), max_size=8))
def test_batches_read_as_the_reference_reads_each_record(rows: list[tuple[bytes | None, bytes | None]]) -> None:
    records = Records.of([(key, value, 1000 + row, row) for row, (key, value) in enumerate(rows)])
    for view in (HOTELS, PLAIN):
        decoded = UpdateDecoder(view).decode(records)
        for row in range(len(rows)):
            same(decoded, row, view)


decimals = st.from_regex(r"-?[0-9]{1,25}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), decimals))
def test_numbers_are_read_to_the_last_bit(text: str) -> None:
    blob = np.frombuffer(text.encode() + b",", dtype=np.uint8)
    past, _, _, bits, ok = _number(blob, 0, len(blob))
    digits = text.lstrip("-")
    leading_zero = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    assert (past < 0) == leading_zero
    if ok:
        assert past == len(text)
        assert np.uint64(bits).view(np.float64) == float(text)


def test_slices_of_a_batch_are_batches() -> None:
    records = Records.of([(b"a", b'{"price":1,"rating":2}', 1, 0), (b"b", None, 2, 1), (b"c", b"{}", 3, 2)])
    decoded = UpdateDecoder(PLAIN).decode(records.slice(1, 3))
    assert decoded.keys[0] == "b"
    assert decoded.deleted.tolist() == [True, False]
    assert decoded.rejected[1].reason == "missing_field"
