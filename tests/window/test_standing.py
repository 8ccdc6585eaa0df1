"""Standing queries against their definitions: every change, in order, with its reason, its cause and its time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.errors import InvalidInput
from skyline.window import SkylineWindow, WindowChange
from tests import naive
from tests.window import oracle
from tests.window.streams import all_min, long_stream, streams, timed_streams


def log_of(changes: Iterable[WindowChange], first: int) -> list[oracle.Change]:
    """As the oracle writes them: rows counted from the start of the stream."""
    return [(c.op, c.position, c.reason, c.by, c.row + first if c.row >= 0 else -1, c.at) for c in changes]


@settings(max_examples=100)
@given(streams(25), st.integers(1, 9), st.integers(1, 30))
def test_every_change_of_every_query_of_a_window_by_size(stream, size, batch):
    """All n and all (n1, n2) at once; read after every batch, however large."""
    window = SkylineWindow(all_min(len(stream[0])), size=size, history=True)
    pairs = [(n1, n2) for n2 in range(1, size + 1) for n1 in range(1, n2 + 1)]
    watches = {pair: window.watch_between(*pair, log=True) for pair in pairs}
    logs: dict[tuple[int, int], list[oracle.Change]] = {pair: [] for pair in pairs}
    for start in range(0, len(stream), batch):
        window.append(stream[start : start + batch])
        for pair, watch in watches.items():
            logs[pair] += log_of(watch.changes(), start)
            assert watch.members().tolist() == naive.between_skyline(stream[: start + batch], *pair)
    for pair in pairs:
        assert logs[pair] == oracle.changes_by_size(stream, *pair)


@settings(max_examples=100)
@given(timed_streams(), st.integers(1, 9), st.integers(1, 30), st.integers(0, 12))
def test_every_change_of_every_query_of_a_window_by_span(stream, span, batch, silence):
    window = SkylineWindow(all_min(len(stream[0][1])), span=span, history=True)
    pairs = [(n1, n2) for n2 in range(1, span + 1) for n1 in range(1, n2 + 1)]
    watches = {pair: window.watch_between(*pair, log=True) for pair in pairs}
    logs: dict[tuple[int, int], list[oracle.Change]] = {pair: [] for pair in pairs}

    def read(first: int) -> None:
        for pair, watch in watches.items():
            logs[pair] += log_of(watch.changes(), first)

    for start in range(0, len(stream), batch):
        part = stream[start : start + batch]
        window.append([point for _, point in part], at=[time for time, _ in part])
        read(start)
    now = stream[-1][0] + silence
    window.advance(now)
    read(len(stream))
    for pair in pairs:
        assert logs[pair] == oracle.changes_by_span(stream, *pair, now)


@settings(max_examples=60)
@given(timed_streams(), st.integers(1, 9), st.lists(st.tuples(st.integers(1, 8), st.integers(0, 12)), max_size=8))
def test_time_told_between_elements(stream, span, steps):
    """What the clock lets pass before the next element comes is not that element's doing."""
    window = SkylineWindow(all_min(len(stream[0][1])), span=span, history=True)
    pairs = [(n1, n2) for n2 in range(1, span + 1) for n1 in range(1, n2 + 1)]
    watches = {pair: window.watch_between(*pair, log=True) for pair in pairs}
    logs: dict[tuple[int, int], list[oracle.Change]] = {pair: [] for pair in pairs}
    late: list[tuple[int, naive.Point]] = []
    told: list[tuple[int, int]] = []
    silence, now = 0, stream[0][0]
    for more, still in [*steps, (len(stream), 0)]:
        first = len(late)
        late += [(time + silence, point) for time, point in stream[first : first + more]]
        window.append([point for _, point in late[first:]], at=[time for time, _ in late[first:]])
        silence, now = silence + still, max(now, late[-1][0]) + still
        window.advance(now)
        told.append((len(late), now))
        for pair, watch in watches.items():
            logs[pair] += log_of(watch.changes(), first)
    for pair in pairs:
        assert logs[pair] == oracle.changes_by_span(late, *pair, now, told)


@settings(max_examples=60)
@given(streams(), st.integers(2, 9), st.lists(st.integers(1, 12), min_size=1, max_size=8))
def test_polls_net_what_happened_in_between(stream, size, steps):
    """Two polls differ by exactly what the answers differ; the first poll gives all members."""
    window = SkylineWindow(all_min(len(stream[0])), size=size, history=True)
    window.append(stream[:5])
    watches = [window.watch(size), window.watch(1), window.watch_between(2, size)]
    before: list[set[int]] = [set(), set(), set()]
    done = min(5, len(stream))
    for step in [0, *steps]:
        window.append(stream[done : done + step])
        done = min(done + step, len(stream))
        for i, watch in enumerate(watches):
            entered, left = watch.poll()
            now = set(watch.members().tolist())
            assert entered.tolist() == sorted(now - before[i])
            assert left.tolist() == sorted(before[i] - now)
            before[i] = now


@pytest.mark.parametrize("dims", range(1, 7))
@pytest.mark.parametrize("values", [4, 0], ids=["ties", "distinct"])
def test_a_long_run_read_seldom(dims, values):
    """Thousands of elements between two reads: rows renewed, rings lapped, events folded. The log replays exactly."""
    size, count = 900, 14_000
    stream = long_stream(dims, count, dims, values)
    window = SkylineWindow(all_min(dims), size=size, history=True)
    queries = [(1, size), (1, 17), (1, 1), (300, size), (40, 41), (500, 500)]
    logged = [window.watch_between(*query, log=True) for query in queries]
    polled = [window.watch_between(*query) for query in queries]
    rng = np.random.default_rng(dims)
    current: list[set[int]] = [set() for _ in queries]
    known: list[set[int]] = [set() for _ in queries]
    done = 0
    while done < count:
        step = int(rng.integers(1, 9_000))
        window.append(stream[done : done + step])
        done = min(done + step, count)
        for i, (n1, n2) in enumerate(queries):
            first, last = max(0, done - n2), max(0, done - n1 + 1)
            expected = [first + row for row in oracle.fast_skyline(stream[first:last])]
            _replay(current[i], logged[i].changes())
            assert sorted(current[i]) == expected
            entered, left = polled[i].poll()
            known[i] = (known[i] | set(entered.tolist())) - set(left.tolist())
            assert sorted(known[i]) == expected


def test_a_long_run_by_span_read_seldom():
    rng = np.random.default_rng(8)
    count, span = 20_000, 1_500
    stream, times = long_stream(3, count, 3, 0), np.cumsum(rng.integers(0, 3, count))
    window = SkylineWindow(all_min(3), span=span, history=True)
    queries = [(1, span), (1, 3), (700, span), (10, 11)]
    logged = [window.watch_between(*query, log=True) for query in queries]
    current: list[set[int]] = [set() for _ in queries]
    done = 0
    while done < count:
        step = int(rng.integers(1, 9_000))
        window.append(stream[done : done + step], at=times[done : done + step])
        done = min(done + step, count)
        now = int(times[done - 1])
        for i, (n1, n2) in enumerate(queries):
            inside = np.flatnonzero((times[:done] > now - n2) & (times[:done] <= now - n1 + 1))
            _replay(current[i], logged[i].changes())
            assert sorted(current[i]) == inside[oracle.fast_skyline(stream[inside])].tolist()
    window._check()


def _replay(members: set[int], changes: Iterable[WindowChange]) -> None:
    for change in changes:
        if change.op == "enter":
            assert change.position not in members
            members.add(change.position)
        else:
            members.remove(change.position)
        assert change.size == len(members)


def test_a_watch_that_nobody_reads_stays_small():
    """What a poll needs is at most the members then and now, so a watch keeps little more than that."""
    window = SkylineWindow(all_min(2), size=50)
    watch = window.watch(50)
    stream = long_stream(3, 120_000, 2, 0)
    for start in range(0, len(stream), 1_000):
        window.append(stream[start : start + 1_000])
    assert watch._unfolded <= 2 * 4_096
    entered, left = watch.poll()
    assert entered.tolist() == window.last(50).tolist()
    assert left.tolist() == []


def test_watches_come_and_go():
    window = SkylineWindow(all_min(1), size=3)
    first = window.watch(3)
    window.append([[3.0], [2.0]])
    second = window.watch(1)
    window.append([[1.0]])
    window.unwatch(first)
    window.append([[0.0]])
    assert [part.tolist() for part in first.poll()] == [[2], []]
    assert [part.tolist() for part in second.poll()] == [[3], []]
    with pytest.raises(InvalidInput, match="not a watch of this window"):
        window.unwatch(first)
    with pytest.raises(InvalidInput, match="log=True"):
        second.changes()


def test_reading_one_watch_leaves_the_others_alone(monkeypatch):
    """Twenty watches read after every element cost twenty readings, not four hundred."""
    window = SkylineWindow(all_min(2), size=50)
    read, unread = window.watch(50, log=True), window.watch(20)
    window.append(long_stream(1, 100, 2, 0))
    monkeypatch.setattr(unread.feed, "events", lambda: pytest.fail("this watch was not asked"))
    assert read.poll()[0].tolist() == window.last(50).tolist()
    assert len(read.changes()) > 0


def test_a_watch_that_has_ended_keeps_what_it_gathered():
    """Also after the rows it stood in were renewed."""
    window = SkylineWindow(all_min(2), size=50)
    stream = long_stream(2, 30_000, 2, 0)
    watch = window.watch(50, log=True)
    window.append(stream[:10_000])
    then = window.last(50).tolist()
    window.unwatch(watch)
    window.append(stream[10_000:])
    assert [part.tolist() for part in watch.poll()] == [then, []]
    members: set[int] = set()
    _replay(members, watch.changes())
    assert sorted(members) == then


def test_a_log_says_when_and_why():
    window = SkylineWindow({"price": "min"}, span=10)
    watch = window.watch(10, log=True)
    window.append([[5.0], [7.0], [6.0]], at=[100, 101, 103])
    window.advance(113)
    assert list(watch.changes()) == [
        WindowChange("enter", 0, "inserted", 0, 0, 100, 1),
        WindowChange("leave", 0, "expired", 0, -1, 110, 0),
        WindowChange("enter", 2, "promoted", 0, -1, 110, 1),
        WindowChange("leave", 2, "expired", 2, -1, 113, 0),
    ]
    assert repr(watch.changes()) == "<0 changes: 0 leave, 0 enter>"
