"""dump and load: a window that was dumped and loaded is the window."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.errors import InvalidInput
from skyline.window import SkylineWindow
from skyline.window.layout import NONE, OPEN_END
from tests.window.streams import all_min, long_stream, streams, timed_streams


def same(one: SkylineWindow, other: SkylineWindow) -> None:
    a, b = one.dump(), other.dump()
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(a[name], b[name]), name
    assert one.retained().tolist() == other.retained().tolist()


@settings(max_examples=60)
@given(streams(), st.integers(1, 12), st.integers(0, 40), st.booleans())
def test_a_loaded_window_goes_on_as_the_dumped_one(stream, size, cut, history):
    window = SkylineWindow(all_min(len(stream[0])), size=size, history=history)
    window.append(stream[:cut])
    loaded = SkylineWindow.load(window.dump())
    same(window, loaded)
    logs = [one.watch(size, log=True) for one in (window, loaded)]
    stretches = [one.watch_between(1 + size // 3, size, log=True) for one in (window, loaded) if history]
    for one in (window, loaded):
        one.append(stream[cut:])
    same(window, loaded)
    loaded._check()
    assert list(logs[0].changes()) == list(logs[1].changes())
    if history:
        assert list(stretches[0].changes()) == list(stretches[1].changes())
        for n2 in range(1, size + 1):
            assert window.between(1 + n2 // 2, n2).tolist() == loaded.between(1 + n2 // 2, n2).tolist()


@settings(max_examples=60)
@given(timed_streams(), st.integers(1, 12), st.integers(0, 30), st.integers(0, 8), st.booleans())
def test_the_same_by_span_and_after_silence(stream, span, cut, silence, history):
    window = SkylineWindow(all_min(len(stream[0][1])), span=span, history=history)
    points, times = [point for _, point in stream], [time for time, _ in stream]
    window.append(points[:cut], at=times[:cut])
    if cut >= len(stream):
        window.advance(times[-1] + silence)
    loaded = SkylineWindow.load(window.dump())
    same(window, loaded)
    assert loaded.clock == window.clock
    logs = [one.watch(span, log=True) for one in (window, loaded)]
    for one in (window, loaded):
        one.append(points[cut:], at=times[cut:])
        one.advance(times[-1] + silence + 3)
    same(window, loaded)
    loaded._check()
    assert list(logs[0].changes()) == list(logs[1].changes())


@pytest.mark.parametrize("history", [False, True])
def test_a_long_run_with_many_loads(history):
    """Trees and rings are in other places afterwards: no answer and no change may tell."""
    stream = long_stream(5, 15_000, 3, 0)
    straight, moved = (SkylineWindow(all_min(3), size=2_000, history=history) for _ in range(2))
    for start in range(0, len(stream), 1_500):
        logs = [one.watch(700, log=True) for one in (straight, moved)]
        for one in (straight, moved):
            one.append(stream[start : start + 1_500])
        assert list(logs[0].changes()) == list(logs[1].changes())
        for watch, one in zip(logs, (straight, moved), strict=True):
            one.unwatch(watch)
        moved = SkylineWindow.load(moved.dump())
        moved._check()
        same(straight, moved)


@pytest.mark.parametrize("start", [2**31 - 8_000, 2**32 - 3_500, 2**53 - 4_000, 2**60])
def test_positions_that_need_more_than_32_or_53_bits(start):
    """A stream that has run for years: the same answers and changes, only later, across renewals and laps."""
    stream = long_stream(9, 15_000, 3, 6)
    straight = SkylineWindow(all_min(3), size=300, history=True)
    straight.append(stream[:3_000])
    moved = SkylineWindow.load(later(straight.dump(), start))
    windows = (straight, moved)
    watches = [(one.watch(300, log=True), one.watch_between(20, 200, log=True)) for one in windows]
    for one in windows:
        one.append(stream[3_000:])
        one._check()
    assert (moved.retained() - start).tolist() == straight.retained().tolist()
    assert moved.points(moved.kept()).tolist() == stream[-300:].tolist()
    for n1, n2 in ((1, 1), (1, 300), (7, 50), (300, 300)):
        assert (moved.last(n2) - start).tolist() == straight.last(n2).tolist()
        assert (moved.between(n1, n2) - start).tolist() == straight.between(n1, n2).tolist()
    for early, late in zip(*watches, strict=True):
        told = [change._replace(position=change.position - start, by=change.by - start) for change in late.changes()]
        assert told == list(early.changes())


def later(state: dict, start: int) -> dict:
    """The same state of a stream by size that began `start` elements earlier."""
    moved = {**state, "counters": state["counters"] + [start, 0]}
    for name in ("positions", "stamps"):
        moved[name] = state[name] + start
    for name, none in (("origins", NONE), ("history_ancestors", -1), ("history_enders", OPEN_END)):
        moved[name] = np.where(state[name] == none, none, state[name] + start)
    return moved


def test_a_dump_does_not_change_with_its_window():
    window = SkylineWindow(all_min(2), size=100, history=True)
    stream = long_stream(6, 500, 2, 0)
    window.append(stream[:250])
    dumped = window.dump()
    kept = {name: np.array(value) for name, value in dumped.items()}
    window.append(stream[250:])
    assert all(np.array_equal(kept[name], dumped[name]) for name in kept)


def dumped() -> dict:
    window = SkylineWindow(all_min(2), size=100, history=True)
    window.append(long_stream(7, 300, 2, 0))
    return window.dump()


@pytest.mark.parametrize("name", sorted(dumped()))
def test_a_state_with_a_part_missing_is_refused(name):
    state = dumped()
    del state[name]
    with pytest.raises(InvalidInput, match="state of a window"):
        SkylineWindow.load(state)


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("format", lambda a: np.array([2, *a[1:]]), "has format 2"),
        ("format", lambda a: a[:2], "not the state of a window"),
        ("points", lambda a: a[:, :1], "'points' must be"),
        ("points", lambda a: a * np.nan, "contradicts itself"),
        ("points", lambda a: a.astype(np.float32), "'points' must be"),
        ("positions", lambda a: a[::-1], "contradicts itself"),
        ("positions", lambda a: a + 500, "contradicts itself"),
        ("positions", lambda a: a[1:], "'positions' must be"),
        ("stamps", lambda a: a[::-1], "contradicts itself"),
        ("origins", lambda a: a * 0 + 10**9, "contradicts itself"),
        ("parents", lambda a: a + len(a), "contradicts itself"),
        ("counters", lambda a: a * 0 - 1, "contradicts itself"),
        ("history_times", lambda a: np.arange(len(a))[::-1].copy(), "contradicts itself"),
        ("history_ancestors", lambda a: a + 10**6, "contradicts itself"),
        ("history_enders", lambda a: a * 0, "contradicts itself"),
        ("history_points", lambda a: a[1:], "must be"),
    ],
)
def test_a_spoilt_state_is_refused(name, spoil, message):
    state = dumped()
    state[name] = spoil(np.asarray(state[name]))
    with pytest.raises(InvalidInput, match=message):
        SkylineWindow.load(state)
