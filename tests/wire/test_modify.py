"""What modifications make of the object that is there."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyline.view import NEVER, View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.modify import MAX_EXTRAS_BYTES, modified
from skyline.wire.records import Records
from skyline.wire.rejects import Rejected
from skyline.wire.updates import MAX_VALUE_BYTES, Modification, Upsert, group_of, read_update
from tests.wire.examples import HOTELS, PLAIN

numbers = st.floats(allow_nan=False)


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


@given(st.sampled_from(["add", "multiply", "average"]), numbers, numbers)
def test_arithmetic_is_that_of_floats(op: str, old: float, given_value: float) -> None:
    spelt = given_value if math.isfinite(given_value) else ("Infinity" if given_value > 0 else "-Infinity")
    result = modified(PLAIN, Upsert((old, 1.0)), Modification(op, {"price": spelt}))
    expected = {"add": old + given_value, "multiply": old * given_value, "average": old / 2 + given_value / 2}[op]
    if math.isnan(expected):
        assert isinstance(result, Rejected)
        assert result.reason == "bad_value"
    else:
        assert isinstance(result, Upsert)
        assert result.point == (expected, 1.0)
        assert not (result.point[0] == 0 and math.copysign(1, result.point[0]) < 0)


def test_a_patch_that_empties_the_interval_is_refused() -> None:
    result = modified(PLAIN, Upsert((1.0, 1.0), 5, 9), Modification("patch", {"valid_until": 5}))
    assert isinstance(result, Rejected)
    assert result.reason == "bad_interval"


def test_patches_do_not_grow_an_object_until_its_changes_fit_no_topic() -> None:
    names = [f"c{i}" for i in range(20)]
    view = View.of("large", {"dimensions": {"price": "min"}, "carry": names})
    held, refused = Upsert((1.0,)), 0
    for name in names:
        result = modified(view, held, Modification("patch", {name: "x" * 1_000_000}))
        if isinstance(result, Rejected):
            assert result.reason == "too_large"
            assert f"at most {MAX_EXTRAS_BYTES}" in result.message
            refused += 1
        else:
            held = result
    assert refused == 12
    assert len(held.extras) <= MAX_EXTRAS_BYTES
    smaller = modified(view, held, Modification("patch", {"c0": None, "price": 2}))
    assert isinstance(smaller, Upsert)
    assert len(smaller.extras) < len(held.extras)


def test_an_object_of_one_update_can_be_patched_however_its_fields_are_spelt() -> None:
    """1e15 is written as 1000000000000000.0: no other spelling grows more."""
    view = View.of("long", {"dimensions": {"price": "min"}, "carry": ["many", "few"]})
    many = b'{"price":1,"few":"\\n","many":[' + b"1e15," * ((MAX_VALUE_BYTES - 50) // 5) + b"1]}"
    for read in (read_update(view, b"k", many), ("k", _decoded(view, many))):
        assert isinstance(read, tuple)
        assert isinstance(read[1], Upsert)
        assert isinstance(modified(view, read[1], Modification("patch", {"price": 2})), Upsert)


def _decoded(view: View, value: bytes) -> Upsert:
    batch = UpdateDecoder(view).decode(Records.of([(b"k", value, 0, 0)]))
    assert batch.extras is not None
    return Upsert((1.0,), extras=batch.extras[0])
