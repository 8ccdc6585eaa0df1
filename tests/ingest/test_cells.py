"""CSV text as JSON text: whatever stands in a cell, the JSON is valid and says the same."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.files import cells
from skyline.wire.rejects import Rejected

NUMBERS = st.one_of(st.integers().map(str), st.floats(allow_nan=False, allow_infinity=False).map(repr))


@given(st.lists(NUMBERS))
def test_numbers_stay_the_numbers_they_are(column: list[str]) -> None:
    assert [float(json.loads(cell)) for cell in cells.numbers(column)] == [float(cell) for cell in column]


@given(st.lists(st.one_of(NUMBERS, st.text())))
def test_a_dimension_is_a_number_or_a_string_that_will_be_refused(column: list[str]) -> None:
    for given_cell, cell in zip(column, cells.numbers(column), strict=True):
        value = json.loads(cell)
        assert isinstance(value, (int, float, str))
        if isinstance(value, str) and value not in ("Infinity", "-Infinity"):
            assert value == given_cell


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("+1", 1.0), (".5", 0.5), ("007", 7.0), (" 3 ", 3.0), ("1e400", math.inf), ("inf", "Infinity"),
        ("-Infinity", "-Infinity"), ("nan", "nan"), ("1_000", "1_000"), ("1,5", "1,5"), ("0x10", "0x10"), ("", ""),
        ("1\n2", "1\n2"), ("-", "-"), ("1e5", 100000.0),
    ],
)  # fmt: skip
def test_what_people_write_as_numbers(cell: str, value: object) -> None:
    assert [json.loads(text) for text in cells.numbers([cell, "1"])] == [value, 1]


@given(st.lists(st.text()))
def test_texts_are_kept(column: list[str]) -> None:
    assert [json.loads(text) for text in cells.texts(column)] == [cell or None for cell in column]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("", None), ("12", 12), ('{"a": [1,\n 2]}', {"a": [1, 2]}), ("true", True), ("null", None), ("Rome", "Rome"),
        ("NaN", "NaN"), ("[" * 5000, "[" * 5000), ("[" * 300 + "]" * 300, "[" * 300 + "]" * 300), ('"a', '"a'),
    ],
)  # fmt: skip
def test_documents_are_the_json_they_are_or_text(cell: str, value: object) -> None:
    (text,) = cells.documents([cell])
    assert "\n" not in text
    assert json.loads(text) == value


@given(st.lists(st.one_of(st.integers(-(10**15), 10**15).map(str), st.text())))
def test_instants_are_milliseconds_text_or_null(column: list[str]) -> None:
    for cell, text in zip(column, cells.instants(column), strict=True):
        value = json.loads(text)
        assert value == (None if not cell else value if isinstance(value, int) else cell)
        if isinstance(value, int):
            assert value == int(cell)


def test_instants_may_begin_with_zeros() -> None:
    assert cells.instants(["007", "0", "-05"]) == ["7", "0", "-5"]


def test_times_in_milliseconds_or_iso() -> None:
    column = ["1700000000000", "2026-11-18T06:41:00Z", "2026-11-18 06:41:00", "", "soon", "-5", "9" * 40]
    moments, problems = cells.times("when", column, now=42)
    assert moments[:3] == [1700000000000, 1794984060000, 1794984060000]
    assert moments[5] == -5
    assert set(problems) == {3, 4, 6}
    assert problems[3] == Rejected("bad_time", "when is empty: every row needs its event time")
    assert 'when: "soon" is not ISO 8601' in problems[4].message


@pytest.mark.parametrize("column", [["1", "2"], ["1", "x"]])
def test_times_of_plain_columns_and_others_agree(column: Sequence[str]) -> None:
    assert cells.times("t", column[:1], 0)[0] == [1]
    assert cells.times("t", column, 0)[0][0] == 1
