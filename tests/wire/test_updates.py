"""The reference reader: every rule, and a message for every mistake."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import orjson
import pytest

from skyline.view import View
from skyline.wire.rejects import REASONS, Rejected
from skyline.wire.updates import ALWAYS, Delete, Tick, Upsert, read_update, write_update
from tests.wire.examples import FINE, HOTELS

GOLDEN = Path(__file__).parent / "golden"


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


def test_golden_update() -> None:
    fields = {**FINE, "rating": math.inf, "valid_from": 1763450000123, "valid_until": "2026-11-18T06:41:00Z"}
    value = write_update(fields)
    assert value is not None
    assert value + b"\n" == (GOLDEN / "update.json").read_bytes()
    result = read_update(HOTELS, b"h7", value)
    assert isinstance(result, tuple)
    assert isinstance(result[1], Upsert)
    assert result[1].point == (80.0, math.inf)
    assert (result[1].valid_from, result[1].valid_until) == (1763450000123, 1794984060000)


def test_golden_modification() -> None:
    value = write_update({"$op": "average", "price": 70})
    assert value is not None
    assert value + b"\n" == (GOLDEN / "modification.json").read_bytes()


def test_a_window_has_nothing_to_modify() -> None:
    view = View.of("w", {"dimensions": {"price": "min"}, "window": {"size": 10}})
    result = read_update(view, b"k", b'{"$op":"add","price":1}')
    assert isinstance(result, Rejected)
    assert (result.reason, "never change" in result.message) == ("bad_op", True)


def test_a_tick_has_no_value() -> None:
    assert rejected({}, b"$tick").reason == "bad_key"
