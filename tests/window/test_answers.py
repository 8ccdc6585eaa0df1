"""last(n) and between(n1, n2) against their definitions: all n, all (n1, n2), ties, duplicates, 1 to 6 dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.window import SkylineWindow
from tests import naive
from tests.window import oracle
from tests.window.streams import all_min, long_stream, streams, timed_streams


@settings(max_examples=150, deadline=None)
@given(streams(), st.integers(1, 12), st.integers(1, 50))
def test_every_n_and_every_stretch_of_a_window_by_size(stream, size, batch):
    """Whatever the batches, all answers after every batch are those of the definition."""
    window = SkylineWindow(all_min(len(stream[0])), size=size, history=True)
    for start in range(0, len(stream), batch):
        window.append(stream[start : start + batch])
        seen = stream[: start + batch]
        for n2 in range(1, size + 1):
            assert window.last(n2).tolist() == naive.window_skyline(seen, n2)
            for n1 in range(1, n2 + 1):
                assert window.between(n1, n2).tolist() == naive.between_skyline(seen, n1, n2)
    window._check()


@settings(max_examples=150, deadline=None)
@given(timed_streams(), st.integers(1, 12), st.integers(1, 40), st.integers(0, 9))
def test_every_span_and_every_stretch_of_a_window_by_span(stream, span, batch, silence):
    """The same for event time, with several elements per millisecond, and after silence."""
    window = SkylineWindow(all_min(len(stream[0][1])), span=span, history=True)

    def check(seen, now):
        for n2 in range(1, span + 1):
            assert window.last(n2).tolist() == oracle.stretch(seen, now, 1, n2)
            for n1 in range(1, n2 + 1):
                assert window.between(n1, n2).tolist() == oracle.stretch(seen, now, n1, n2)

    for start in range(0, len(stream), batch):
        part = stream[start : start + batch]
        window.append([point for _, point in part], at=[time for time, _ in part])
        check(stream[: start + batch], part[-1][0])
    window.advance(stream[-1][0] + silence)
    check(stream, stream[-1][0] + silence)
    window._check()


@pytest.mark.parametrize("dims", range(1, 7))
@pytest.mark.parametrize("values", [3, 12, 0], ids=["many ties", "some ties", "distinct"])
def test_a_long_run_with_trees_and_renewals(dims, values):
    """Thousands of elements: overflow packed, trees merged, rows renewed, the ring lapped; answers stay right."""
    rng = np.random.default_rng(dims * 100 + values)
    size, count = 700, 12_000
    stream = long_stream(dims * 100 + values, count, dims, values)
    window = SkylineWindow(all_min(dims), size=size, history=True)
    done = 0
    while done < count:
        step = int(rng.integers(1, 2_500))
        window.append(stream[done : done + step])
        done = min(done + step, count)
        for n in (1, 2, int(rng.integers(1, size + 1)), size):
            first = max(0, done - n)
            assert window.last(n).tolist() == [first + row for row in oracle.fast_skyline(stream[first:done])]
        n1, n2 = np.sort(rng.integers(1, size + 1, 2)).tolist()
        first, last = max(0, done - n2), max(0, done - n1 + 1)
        assert window.between(n1, n2).tolist() == [first + row for row in oracle.fast_skyline(stream[first:last])]
        window._check()


@pytest.mark.parametrize("shape", ["trade-off", "rising", "falling", "equal"])
def test_streams_that_defeat_balancing(shape):
    """Sorted streams: nobody dominates anybody, everybody is dominated, nobody survives, everybody is equal."""
    count, size = 9_000, 5_000
    i = np.arange(count, dtype=float)
    stream = {
        "trade-off": np.column_stack([i, -i]),
        "rising": np.column_stack([i, i]),
        "falling": np.column_stack([-i, -i]),
        "equal": np.zeros((count, 2)),
    }[shape]
    window = SkylineWindow(all_min(2), size=size)
    window.append(stream)
    for n in (1, 17, 4_999, size):
        newest = np.arange(count - n, count).tolist()
        expected = {"trade-off": newest, "rising": newest[:1], "falling": newest[-1:], "equal": newest}[shape]
        assert window.last(n).tolist() == expected
    window._check()


def test_maximised_dimensions_and_points_as_given():
    window = SkylineWindow({"price": "min", "volume": "max"}, size=10)
    window.append([[10, 5], [9, 6], [8, 1], [11, 9]])
    assert window.last(10).tolist() == [1, 2, 3]
    assert window.points(window.last(10)).tolist() == [[9, 6], [8, 1], [11, 9]]
    assert window.retained().tolist() == [1, 2, 3]


def test_extents_may_be_integers_of_any_kind():
    """Times are numpy's as often as not, and so is what is computed from them."""
    window = SkylineWindow(all_min(1), span=np.int64(1_000), history=True)
    window.append([[1.0], [2.0], [3.0]], at=np.array([0, 600, 900], np.uint32))
    assert window.last(np.int32(301)).tolist() == [1]
    assert window.between(np.int64(1), "300ms").tolist() == [2]
    assert SkylineWindow(all_min(1), size=np.int16(7)).width == 7


def test_points_of_the_whole_window_with_a_history():
    rng = np.random.default_rng(4)
    points = rng.random((5_000, 3))
    window = SkylineWindow(all_min(3), size=1_000, history=True)
    window.append(points)
    inside = rng.permutation(np.arange(4_000, 5_000))
    assert (window.points(inside) == points[inside]).all()


def test_an_empty_window_has_empty_answers():
    window = SkylineWindow(all_min(2), size=5, history=True)
    timed = SkylineWindow(all_min(2), span="1h", history=True)
    window.append([])
    for empty in (window, timed):
        assert empty.last(5).tolist() == empty.between(2, 4).tolist() == empty.retained().tolist() == []
        assert empty.last(5).dtype == np.int64
    assert timed.clock is None
    timed.advance(7)
    assert timed.clock == 7
    assert timed.last("1m").tolist() == []
