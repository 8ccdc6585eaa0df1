"""The changes that are held, without Kafka or HTTP: across chunks, trimmed, without their beginning, up to a state."""

from __future__ import annotations

from typing import Any

import orjson

from query.history import CHUNK, End, History, Interval
from skyline.wire.records import Records
from tests.query.test_feed import changes


def told(first: int, *steps: tuple[str, str]) -> Records:
    """Changes (op, key) numbered from `first`, ten milliseconds apart."""
    reasons = {"enter": "inserted", "move": "moved", "leave": "deleted"}
    rows: list[tuple[bytes | None, bytes | None, int, int]] = []
    for seq, (op, key) in enumerate(steps, first):
        value: dict[str, Any] = {
            "seq": seq, "op": op, "key": key, "point": {"x": float(seq)}, "reason": reasons[op], "by": key,
            "at": seq * 10, "offset": seq, "partition": 0, "size": 1,
        }  # fmt: skip
        rows.append((key.encode(), orjson.dumps(value), seq * 10, seq))
    return Records.of(rows)


def test_it_answers_across_chunks_and_forgets_the_oldest() -> None:
    history = History(2 * CHUNK)
    end = 5 * CHUNK + 17
    for first in range(1, end + 1, 1000):
        history.append(changes(first, min(1000, end + 1 - first)))
    assert history.last == end
    assert not history.whole
    assert 2 * CHUNK <= history.last - history.first + 1 <= 2 * CHUNK + CHUNK + CHUNK // 2
    assert [seq for seq, _ in history.after(0, 10)] == list(range(history.first, history.first + 10))
    across = history.after(history.first + CHUNK - 5, 10)
    assert [orjson.loads(value)["seq"] for _, value in across] == [seq for seq, _ in across]
    for seq in (history.first, history.first + CHUNK + 1, end - 1, end):
        for at in (seq * 10, seq * 10 + 9):
            past = history.at(at)
            assert past is not None
            assert (past.seq, past.offset) == (seq, seq)
            members = [orjson.loads(value)["seq"] for value in past.members]
            assert members == ([seq] if seq % 2 == 1 else [])
    assert history.at(history.first * 10 - 1) is None
    newest = [interval.fields() for interval in history.intervals("o0", 3, end)]
    assert [stay["from"] for stay in newest] == sorted((stay["from"] for stay in newest), reverse=True)
    assert all(stay["from"] + 10 == stay["until"] for stay in newest)
    everything = history.intervals("o0", 10**9, end)
    assert all(stay.entered is not None and stay.entered.seq >= history.first for stay in everything)


def test_moves_cost_nothing_when_intervals_are_asked_for() -> None:
    history = History(10**6)
    history.append(told(1, ("enter", "a"), *[("move", "a")] * 500, ("leave", "a"), ("enter", "a"), ("move", "a")))
    entered, left, again = End(10, 1, "inserted"), End(5020, 502, "deleted"), End(5030, 503, "inserted")
    assert history.intervals("a", 10, 504) == [Interval(again, None), Interval(entered, left)]
    assert history.intervals("a", 1, 504) == [Interval(again, None)]


def test_what_came_after_a_state_is_left_out() -> None:
    history = History(10**6)
    history.append(told(1, ("enter", "a"), ("leave", "a"), ("enter", "a"), ("enter", "b")))
    first, left, again = End(10, 1, "inserted"), End(20, 2, "deleted"), End(30, 3, "inserted")
    expected = {
        0: [],
        1: [Interval(first, None)],
        2: [Interval(first, left)],
        3: [Interval(again, None), Interval(first, left)],
    }
    for upto, intervals in expected.items():
        assert history.intervals("a", 10, upto) == intervals
    assert history.sizes(None, 10, 2) == [(10, 1), (20, 1)]
    assert history.sizes(None, 10, 0) == []


def test_a_stay_that_began_before_what_is_held_is_not_forgotten() -> None:
    history = History(CHUNK)
    history.append(told(1, ("enter", "always"), ("enter", "leaving")))
    for first in range(3, 3 * CHUNK, 1000):
        history.append(told(first, *[("enter", "x"), ("leave", "x")] * 500))
    last = history.last
    history.append(told(last + 1, ("leave", "leaving")))
    assert history.first > 2
    assert history.intervals("always", 10, last + 1) == [Interval(None, None)]
    assert history.intervals("leaving", 10, last) == [Interval(None, None)]
    left = End((last + 1) * 10, last + 1, "deleted")
    assert history.intervals("leaving", 10, last + 1) == [Interval(None, left)]
    assert history.intervals("nobody", 10, last + 1) == []
    assert Interval(None, left).fields() == {
        "from": None, "until": left.at, "entered": None, "left": {"seq": left.seq, "reason": "deleted"},
    }  # fmt: skip
    past = history.at(last * 10)
    assert past is not None
    assert {orjson.loads(value)["key"] for value in past.members} == {"always", "leaving"}


def test_without_its_beginning_the_past_is_not_known() -> None:
    history = History(10**6)
    history.append(told(7, ("enter", "a"), ("enter", "b")))
    assert not history.whole
    assert history.at(60) is None
    assert history.at(80) is None, "who entered before change 7 would be missing"
