"""The batch decoder never disagrees with the reference reader, whatever the bytes are."""

from __future__ import annotations

import math

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.view import View
from skyline.wire.decode import Decoded, UpdateDecoder
from skyline.wire.records import Records
from skyline.wire.rejects import REASONS, Rejected
from skyline.wire.updates import Delete, Modification, Tick, Upsert, read_update, write_update
from tests.wire.examples import HOTELS, PLAIN, WIDE, keys, objects_as_text, values

Rows = list[tuple[bytes | None, bytes | None]]


def batch(rows: Rows) -> Records:
    return Records.of([(key, value, 1000 + row, row) for row, (key, value) in enumerate(rows)])


def assert_same(decoded: Decoded, row: int, view: View) -> None:
    """The row of a decoded batch is what the reference reader says of that record."""
    expected = read_update(view, decoded.records.key(row), decoded.records.value(row))
    if isinstance(expected, Rejected):
        assert expected.reason in REASONS
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
        assert_same_object(decoded, row, update)


def assert_same_object(decoded: Decoded, row: int, update: Upsert) -> None:
    assert decoded.points[row].tobytes() == np.array(update.point).tobytes()  # to the bit, the sign of zero included
    assert not np.signbit(decoded.points[row][decoded.points[row] == 0]).any()
    assert (decoded.valid_from[row], decoded.valid_until[row]) == (update.valid_from, update.valid_until)
    if decoded.groups is not None:
        assert decoded.groups[row] == update.group
    if decoded.extras is not None:
        assert _fields(decoded.extras[row]) == _fields(update.extras)


def _fields(extras: bytes) -> object:
    return orjson.loads(b"{" + extras[1:] + b"}")


@given(st.lists(st.tuples(keys, values), max_size=8))
def test_batches_read_as_the_reference_reads_each_record(rows: Rows) -> None:
    for view in (HOTELS, PLAIN, WIDE):
        decoded = UpdateDecoder(view).decode(batch(rows))
        for row in range(len(rows)):
            assert_same(decoded, row, view)


@settings(max_examples=400)
@given(objects_as_text())
def test_odd_spellings_read_as_the_reference_reads_them(value: bytes) -> None:
    for view in (HOTELS, PLAIN):
        assert_same(UpdateDecoder(view).decode(batch([(b"k", value)])), 0, view)


@given(st.lists(st.tuples(keys, values), max_size=8))
def test_sources_refuse_what_the_maintainer_would_reject(rows: Rows) -> None:
    for view in (HOTELS, PLAIN):
        decoder = UpdateDecoder(view)
        assert decoder.rejects(batch(rows)) == decoder.decode(batch(rows)).rejected


@given(st.lists(st.tuples(keys, values), min_size=1, max_size=8), st.data())
def test_where_a_batch_is_cut_does_not_matter(rows: Rows, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(rows)))
    records = batch(rows)
    for part in (records.slice(0, cut), records.slice(cut, len(rows))):
        decoded = UpdateDecoder(HOTELS).decode(part)
        for row in range(len(part)):
            assert_same(decoded, row, HOTELS)


@pytest.mark.parametrize("value", [math.inf, -math.inf, 0.0, -0.0, 5e-324, 1.7976931348623157e308])
def test_extreme_values_survive_writing_and_reading(value: float) -> None:
    written = write_update({"price": value, "rating": 1})
    decoded = UpdateDecoder(PLAIN).decode(batch([(b"k", written)]))
    assert decoded.points[0, 0] == value
    assert math.copysign(1, decoded.points[0, 0]) == (-1 if value < 0 else 1)


@pytest.mark.parametrize("depth", [200, 600, 1000, 1023, 5000, 100_000])
@pytest.mark.parametrize("name", ["price", "city", "name", "valid_until", "$op", "other"])
def test_nesting_of_any_depth_is_a_reject_or_ignored(depth: int, name: str) -> None:
    value = b'{"price":1,"rating":2,"city":"x","%b":%b}' % (name.encode(), b"[" * depth + b"]" * depth)
    decoded = UpdateDecoder(HOTELS).decode(batch([(b"k", value)]))
    assert_same(decoded, 0, HOTELS)
    if name in ("name", "other") and depth <= 200:
        assert not decoded.rejected
    elif name != "other" or depth >= 5000:
        assert decoded.rejected[0].reason in ("bad_json", "bad_value", "bad_interval", "bad_op")
        assert len(decoded.rejected[0].message) < 300


def test_the_last_of_two_fields_of_one_name_counts() -> None:
    decoded = UpdateDecoder(PLAIN).decode(batch([(b"k", b'{"price":1,"rating":2,"price":3}')]))
    assert decoded.points[0].tolist() == [3.0, 2.0]


def test_a_name_written_with_escapes_is_the_same_name() -> None:
    decoded = UpdateDecoder(PLAIN).decode(batch([(b"k", rb'{"\u0070rice":1,"rating":2}')]))
    assert decoded.points[0].tolist() == [1.0, 2.0]


def test_null_and_empty_are_told_apart() -> None:
    decoded = UpdateDecoder(PLAIN).decode(batch([(b"k", None), (b"k", b""), (None, None), (b"", None)]))
    assert decoded.deleted.tolist() == [True, False, False, False]
    assert {row: why.reason for row, why in decoded.rejected.items()} == {1: "bad_json", 2: "bad_key", 3: "bad_key"}
