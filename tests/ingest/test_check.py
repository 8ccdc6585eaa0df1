"""What ingest refuses is what the maintainer would reject, with the same reasons and words."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.batch import Batch
from ingest.check import Checker
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from skyline.wire.rejects import Rejected
from tests.ingest.harness import WINDOW, view_of

NOW = 1_700_000_000_000
VIEWS = [view_of("hotels"), View.of("deals", WINDOW)]
NUMBERS = st.one_of(st.integers(-(2**63), 2**63), st.floats(), st.text(max_size=3))
VALUES = st.one_of(
    st.none(),
    st.binary(max_size=20),
    st.fixed_dictionaries(
        {"price": NUMBERS, "rating": st.integers(-5, 5)},
        optional={
            "city": st.sampled_from(["Rome", 1, None, 2.5]), "volume": st.integers(0, 3), "name": st.text(max_size=3),
            "valid_until": st.one_of(st.integers(-10, 10), st.text(max_size=3)), "valid_from": st.integers(-10, 10),
            "$op": st.sampled_from(["add", "patch", "nonsense"]),
        },
    ).map(orjson.dumps),
)  # fmt: skip
KEYS = st.one_of(st.none(), st.binary(max_size=4), st.sampled_from([b"a", b"$tick", b"$x", b"k" * 257]))


@pytest.mark.parametrize("view", VIEWS, ids=["keyed", "window"])
@given(st.lists(st.tuples(KEYS, VALUES), max_size=8))
def test_the_maintainer_rejects_the_same(view: View, updates: list[tuple[bytes | None, bytes | None]]) -> None:
    batch = _batch(updates)
    good, refused = Checker(view, now=lambda: NOW).split(batch)
    rows = [(key, value, NOW, row) for row, (key, value) in enumerate(updates)]
    rejected = UpdateDecoder(view).decode(Records.of(rows)).rejected
    assert {row.place: row.why for row in refused} == rejected
    assert [row.place for row in refused] == sorted(rejected)
    kept = [update for row, update in enumerate(updates) if row not in rejected]
    assert list(zip(good.keys, good.values, strict=True)) == kept


@pytest.mark.parametrize(
    ("at", "fits"), [(NOW, True), (NOW + 1000, True), (NOW + 1001, False), (1, True), (0, False), (-5, False)]
)
def test_event_times(at: int, fits: bool) -> None:
    good, refused = Checker(VIEWS[0], max_ahead=1000, now=lambda: NOW).split(Batch([b"$tick"], [None], [at]))
    assert len(good) == fits
    assert [row.why.reason for row in refused] == [] if fits else ["bad_time"]


def test_problems_of_the_source_come_first_and_places_are_its_own() -> None:
    problem = Rejected("bad_row", "the row has 1 cell")
    batch = Batch([b"a", None, b"b"], [None, None, b"{"], [NOW] * 3, [7, 8, 12], {1: problem})
    good, refused = Checker(VIEWS[0], now=lambda: NOW).split(batch)
    assert list(good.keys) == [b"a"]
    assert list(good.places) == [7]
    assert [(row.place, row.why.reason) for row in refused] == [(8, "bad_row"), (12, "bad_json")]


def test_an_empty_batch() -> None:
    good, refused = Checker(VIEWS[0]).split(Batch([], [], []))
    assert (len(good), refused) == (0, [])


def _batch(updates: list[tuple[Any, Any]]) -> Batch:
    return Batch([key for key, _ in updates], [value for _, value in updates], [NOW] * len(updates))
