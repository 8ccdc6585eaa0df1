"""The state of a window view without a broker: every record it publishes, by definition, whatever the batches."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.checkpoint import Checkpoints
from maintainer.output import Out
from maintainer.state import load_state, new_state, warm_up
from maintainer.windowed import WindowState
from skyline.errors import InvalidInput
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from tests.maintainer import window_oracle
from tests.maintainer.window_rows import window_updates

WINDOWS: list[dict[str, Any]] = [
    {"size": 40, "watch": [1, 7, 40]},
    {"size": 1},
    {"span": 60, "watch": [1, "20 ms"]},
    {"span": "1h"},
]


def view_of(window: dict[str, Any]) -> View:
    table = {"dimensions": {"price": "min", "rating": "max"}, "carry": ["name"], "window": window}
    return View.of("trades", table)


def batches(rows: list[window_oracle.Row], cuts: list[int]) -> list[Records]:
    numbered = [(*row, offset) for offset, row in enumerate(rows)]
    ends = [0, *sorted(cuts), len(rows)]
    return [Records.of(numbered[a:b]) for a, b in pairwise(ends) if b > a]


def run(view: View, rows: list[window_oracle.Row], cuts: list[int], reload: Path | None = None) -> list[Out]:
    """All that is published; with `reload`, by states that each went through a checkpoint."""
    decoder, state = UpdateDecoder(view), new_state(view)
    published: list[Out] = []
    for records in batches(rows, cuts):
        output = state.apply(decoder.decode(records))
        assert output.position == state.position == int(records.offsets[-1]) + 1
        assert output.seq == state.seq
        published += output.records
        if reload is not None:
            checkpoints = Checkpoints(reload, view, "a topic")
            checkpoints.write(state.dump())
            _, saved = next(checkpoints.usable(state.position))
            state = load_state(view, saved)
    return published


def on(published: list[Out], topic: str) -> list[Out]:
    return [record for record in published if record.topic == topic]


def told(records: list[Out]) -> list[window_oracle.Told]:
    fields = [orjson.loads(record.value or b"") for record in records]
    return [(f["op"], f["key"], f["reason"], f["by"], f["at"], f["offset"]) for f in fields]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_every_change_by_definition(window):
    view, rows = view_of(window), window_updates(3, 120 if window == {"span": "1h"} else 400)
    published = run(view, rows, [50, 51, 300])
    assert view.window is not None
    width = view.window.size or view.window.span or 0
    for n, kind in [(width, "changes"), *view.watch_kinds.items()]:
        records = on(published, view.topic(kind))
        assert told(records) == window_oracle.changes(view, rows, n)
        size = 0
        for number, record in enumerate(records, start=1):
            change = orjson.loads(record.value or b"")
            size += 1 if change["op"] == "enter" else -1
            assert (change["seq"], change["size"], change["partition"]) == (number, size, 0)
            assert record.key == change["key"].encode()
            assert record.timestamp == change["at"]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_members_with_their_points_and_carried_fields(window):
    view, rows = view_of(window), window_updates(4, 300)
    published = run(view, rows, [100])
    table = {record.key: record.value for record in on(published, view.topic("skyline"))}
    members = {(key or b"").decode(): orjson.loads(value) for key, value in table.items() if value is not None}
    assert view.window is not None
    assert sorted(members) == sorted(window_oracle.members(view, rows, view.window.size or view.window.span or 0))
    for key, member in members.items():
        sent = orjson.loads(rows[int(key.rpartition("@")[2])][1] or b"")
        assert member["carry"] == {"name": sent["name"]}
        assert member["point"]["price"] == sent["price"]
        assert member["point"]["rating"] == sent["rating"]


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(WINDOWS), st.lists(st.integers(0, 120), max_size=8))
def test_batches_and_checkpoints_never_show(tmp_path_factory, seed, window, cuts):
    view, rows = view_of(window), window_updates(seed, 120)
    straight = run(view, rows, [])
    one_by_one = run(view, rows, list(range(120)))
    broken = run(view, rows, cuts, tmp_path_factory.mktemp("state"))
    for kind in view.kinds:
        expected = on(straight, view.topic(kind))
        assert on(broken, view.topic(kind)) == expected
        assert on(one_by_one, view.topic(kind)) == expected


def test_rejects_say_what_windows_do_not_have():
    view = view_of({"size": 5})
    rows: list[window_oracle.Row] = [
        (b"a", None, 1),
        (None, None, 2),
        (b"a", b'{"$op":"add","price":1}', 3),
        (b"a", b'{"price":1,"rating":1,"valid_until":9}', 4),
        (b"$mine", b'{"price":1,"rating":1}', 5),
    ]
    rejected = run(view, rows, [])
    assert [record.topic for record in rejected] == ["trades.rejected"] * 5
    assert [dict(record.headers or [])["reason"].decode() for record in rejected] == [
        "bad_op", "bad_op", "bad_op", "bad_interval", "bad_key",
    ]  # fmt: skip
    assert b"deletes nothing" in dict(rejected[0].headers or [])["message"]


def test_equal_elements_are_members_side_by_side():
    view = view_of({"size": 3})
    point = b'{"price":1,"rating":1}'
    published = run(view, [(b"same", point, 1), (b"same", point, 2), (None, point, 3)], [])
    assert [(op, key) for op, key, *_ in told(on(published, "trades.changes"))] == [
        ("enter", "same@0"),
        ("enter", "same@1"),
        ("enter", "2"),
    ]


def test_elements_that_nothing_needs_are_let_go():
    """A long stream through a small window: what is kept is bounded by the window, not by the stream."""
    view = view_of({"size": 100})
    rng = random.Random(5)
    decoder, state = UpdateDecoder(view), WindowState(view)
    for batch in range(12):
        rows = [
            (None, orjson.dumps({"price": rng.random(), "rating": rng.random()}), 1, batch * 5000 + i)
            for i in range(5000)
        ]
        state.apply(decoder.decode(Records.of(rows)))
    assert len(state._held._elements) < 20_000
    assert len(state.dump()["element_keys"]) < 100


def test_a_state_of_another_window_is_refused():
    one, other = view_of({"size": 5}), view_of({"size": 6})
    state = WindowState(one)
    with pytest.raises(InvalidInput, match="another window than that of view 'trades'"):
        WindowState.load(other, state.dump())


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_warming_up_works_for_windows(window):
    warm_up(view_of(window))
