"""Bad input: a clear error, and the window as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skyline.errors import InvalidInput
from skyline.window import SkylineWindow
from tests.window.streams import all_min, long_stream


def state(window: SkylineWindow) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in window.dump().items()}


@pytest.fixture
def by_size() -> SkylineWindow:
    window = SkylineWindow(all_min(2), size=10, history=True)
    window.append(long_stream(1, 30, 2, 6), at=5)
    return window


@pytest.fixture
def by_span() -> SkylineWindow:
    window = SkylineWindow(all_min(2), span="1s", history=True)
    window.append(long_stream(1, 30, 2, 6), at=np.arange(30) * 50)
    return window


BAD_SIZES: list[tuple[dict[str, Any], str]] = [
    ({}, "either size"),
    ({"size": 5, "span": 5}, "either size"),
    ({"size": 0}, "size must be 1 to"),
    ({"size": -3}, "size must be 1 to"),
    ({"size": 2**62}, "size must be 1 to"),
    ({"size": 2.5}, "size must be an integer"),
    ({"size": True}, "size must be an integer"),
    ({"size": "10"}, "size must be an integer"),
    ({"span": 0}, "span must be 1 to"),
    ({"span": 2.5}, "span must be an integer"),
    ({"span": "0 s"}, "a duration is a positive number"),
    ({"span": "1 fortnight"}, "a duration is a positive number"),
]


@pytest.mark.parametrize(("extent", "message"), BAD_SIZES, ids=str)
def test_extents_that_make_no_window(extent, message):
    with pytest.raises(InvalidInput, match=message):
        SkylineWindow(all_min(2), **extent)


BAD_N: list[tuple[Any, str]] = [
    (0, "n must be 1 to 10, got 0"),
    (11, "n must be 1 to 10, got 11"),
    (-1, "n must be 1 to 10, got -1"),
    (1.0, "n must be an integer, got 1.0"),
    (True, "n must be an integer, got True"),
    (None, "n must be an integer, got None"),
    ("1s", "n must be an integer, got '1s'"),
]


@pytest.mark.parametrize(("n", "message"), BAD_N, ids=str)
def test_n_outside_the_window(by_size, n, message):
    before = state(by_size)
    for ask in (by_size.last, by_size.watch):
        with pytest.raises(InvalidInput, match=message):
            ask(n)
    assert state(by_size) == before


@pytest.mark.parametrize(
    ("n1", "n2", "message"),
    [
        (5, 4, "n1 must not exceed n2"),
        (0, 4, "n1 must be 1 to 10"),
        (1, 11, "n2 must be 1 to 10"),
        (1, 0, "n2 must be"),
    ],
)
def test_stretches_that_are_none(by_size, n1, n2, message):
    before = state(by_size)
    for ask in (by_size.between, by_size.watch_between):
        with pytest.raises(InvalidInput, match=message):
            ask(n1, n2)
    assert state(by_size) == before
    assert by_size._watches == []


def test_a_stretch_needs_a_history():
    window = SkylineWindow(all_min(2), size=10)
    for ask in (window.between, window.watch_between):
        with pytest.raises(InvalidInput, match="history=True"):
            ask(1, 2)


BAD_POINTS: list[tuple[Any, str]] = [
    ([[1.0, 2.0], [float("nan"), 1.0]], "row 1: d0 is NaN"),
    ([[1.0, 2.0, 3.0]], r"shape \(n, 2\)"),
    ([1.0, 2.0], r"shape \(n, 2\)"),
    ([["a", "b"]], "points must be numbers"),
    ([[1.0, 2.0], [1.0]], "points must be numbers"),
    ([[None, 2.0]], "NaN|numbers"),
]


@pytest.mark.parametrize(("points", "message"), BAD_POINTS, ids=str)
def test_points_that_are_none(by_size, by_span, points, message):
    """Also where the first rows are good: all or nothing."""
    for window, at in ((by_size, None), (by_span, 2_000)):
        before = state(window)
        with pytest.raises(InvalidInput, match=message):
            window.append(points, at=at)
        assert state(window) == before


BAD_TIMES: list[tuple[Any, str]] = [
    ([1_500, 1_499], "row 1: at 1499 is before 1500"),
    (1_449, "row 0: at 1449 is before 1450"),
    ([1_500], "at must be one integer or 2 of them"),
    ([1_500.0, 1_501.0], "at must be one integer or 2 of them"),
    (2**62, "within"),
    (-(2**62), "within"),
    (None, "needs at"),
]


@pytest.mark.parametrize(("at", "message"), BAD_TIMES, ids=str)
def test_times_that_fall_or_are_none(by_span, at, message):
    before = state(by_span)
    with pytest.raises(InvalidInput, match=message):
        by_span.append([[0.0, 0.0], [1.0, 1.0]], at=at)
    assert state(by_span) == before


@pytest.mark.parametrize(("at", "message"), [(3, "at 3 is before"), (7.5, "at must be an integer"), (True, "integer")])
def test_time_does_not_run_backwards(by_size, by_span, at, message):
    for window in (by_size, by_span):
        before = state(window)
        with pytest.raises(InvalidInput, match=message):
            window.advance(at)
        assert state(window) == before


def test_points_that_are_gone(by_size):
    with pytest.raises(InvalidInput, match="position 3 is not in the window"):
        by_size.points([25, 3])
    without = SkylineWindow(all_min(1), size=10)
    without.append([[2.0], [1.0]])
    with pytest.raises(InvalidInput, match="position 0 is not retained"):
        without.points([0])
    for position in (2, -1):
        with pytest.raises(InvalidInput, match="is not retained"):
            without.points([position])
    for positions in ("1", [0.5], [True]):
        with pytest.raises(InvalidInput, match="positions must be integers"):
            without.points(positions)
