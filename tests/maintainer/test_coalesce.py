"""Netted changes: fewer, and they lead from the same members to the same members."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.keyed import KeyedState
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from tests.maintainer.harness import updates

TABLE: dict[str, Any] = {"dimensions": {"price": "min", "rating": "max"}, "group_by": ["city"], "carry": ["name"]}
EACH, NETTED = (View.of("hotels", {**TABLE, "coalesce": coalesce}) for coalesce in (False, True))


def batches(view: View, seed: int, cuts: list[int]) -> list[list[dict[str, Any]]]:
    """The changes of each batch, read back."""
    rows = [(key, value, at, offset) for offset, (key, value, at) in enumerate(updates(seed, 80, objects=8))]
    bounds = [0, *sorted(cuts), len(rows)]
    decoder, state = UpdateDecoder(view), KeyedState(view)
    told = []
    for start, stop in pairwise(bounds):
        if start < stop:
            output = state.apply(decoder.decode(Records.of(rows[start:stop])))
            assert output.seq == state.seq
            assert sum(output.changes.values()) == sum(record.topic == "hotels.changes" for record in output.records)
            values = [record.value for record in output.records if record.topic == "hotels.changes"]
            told.append([orjson.loads(value or b"") for value in values])
    return told


def follow(members: dict[str, Any], changes: list[dict[str, Any]]) -> None:
    """What a subscriber does, with everything that it may rely on."""
    for change in changes:
        assert (change["op"] == "enter") == (change["key"] not in members)
        if change["op"] == "leave":
            del members[change["key"]]
        else:
            members[change["key"]] = (change["point"], change["group"], change["carry"])
        assert change["size"] == len(members)


@given(st.integers(0, 10_000), st.lists(st.integers(0, 80), max_size=6))
def test_they_lead_to_the_same_members_after_every_batch(seed: int, cuts: list[int]) -> None:
    each, netted = dict[str, Any](), dict[str, Any]()
    seq = 0
    for all_of_them, remaining in zip(batches(EACH, seed, cuts), batches(NETTED, seed, cuts), strict=True):
        before = dict(netted)
        follow(each, all_of_them)
        follow(netted, remaining)
        assert netted == each
        keys = [change["key"] for change in remaining]
        assert len(set(keys)) == len(keys) <= len(all_of_them)
        assert {key for key in keys if key not in before} == set(netted) - set(before)
        assert [change["seq"] for change in remaining] == list(range(seq + 1, seq + 1 + len(remaining)))
        seq += len(remaining)


@pytest.mark.parametrize(
    ("prices", "told"),
    [
        ([5, 4, 3], [("enter", "inserted", 3.0)]),
        ([5, None], []),
        ([5, None, 2], [("enter", "inserted", 2.0)]),
    ],
)
def test_an_object_that_was_no_member_enters_once_or_not_at_all(
    prices: list[int | None], told: list[tuple[str, str, float]]
) -> None:
    view = View.of("v", {"dimensions": {"price": "min"}, "coalesce": True})
    values = [None if price is None else b'{"price":%d}' % price for price in prices]
    rows = [(b"a", value, 1, offset) for offset, value in enumerate(values)]
    output = KeyedState(view).apply(UpdateDecoder(view).decode(Records.of(rows)))
    changes = [orjson.loads(record.value or b"") for record in output.records if record.topic == "v.changes"]
    assert [(change["op"], change["reason"], change["point"]["price"]) for change in changes] == told
