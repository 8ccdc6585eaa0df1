"""The cheap filter drops only what is dominated, and its strong points are worth their while."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.batch import filter_dominated, skyline_of, strong_points
from skyline.errors import InvalidInput
from tests import naive
from tests.batch import reference, strategies


@settings(deadline=None, max_examples=150)
@given(st.data(), strategies.points())
def test_the_filter_keeps_exactly_what_no_strong_point_dominates(data, points):
    directions = data.draw(strategies.directions(points.shape[1]))
    strong = points[data.draw(st.lists(st.integers(0, len(points) - 1), max_size=5)) if len(points) else []]
    inward, limits = (reference.normalised(array, directions) for array in (points, strong))
    expected = [row for row, p in enumerate(inward) if not any(naive.dominates(q, p) for q in limits)]
    assert filter_dominated(points, strong, directions).tolist() == expected


def test_nothing_is_dropped_without_strong_points():
    assert filter_dominated([[1.0, 2.0], [3.0, 4.0]], []).tolist() == [0, 1]


def test_equals_of_a_strong_point_stay():
    assert filter_dominated([[1.0, 1.0], [1.0, 2.0], [1.0, 1.0]], [[1.0, 1.0]]).tolist() == [0, 2]


@pytest.mark.parametrize("d", [2, 4, 6])
def test_strong_points_are_rows_that_dominate_most_of_independent_data(d):
    points = np.random.default_rng(d).random((50_000, d))
    directions = ["min", "max"] * (d // 2)
    strong = strong_points(points, directions=directions)
    assert 1 <= len(strong) <= 16
    assert all((point == points).all(axis=1).any() for point in strong)
    left = filter_dominated(points, strong, directions)
    assert len(left) < len(points) / 4
    assert set(skyline_of(points, directions)) <= set(left)


def test_no_points_have_no_strong_ones():
    assert strong_points(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("count", [1, 3, 1000])
def test_there_are_no_more_strong_points_than_asked_for(count):
    points = np.random.default_rng(1).random((5000, 4))
    assert 1 <= len(strong_points(points, count)) <= min(count, 64)


@pytest.mark.parametrize("count", [0, -1, 1.5])
def test_the_count_of_strong_points_must_count(count):
    with pytest.raises(InvalidInput, match="count must be"):
        strong_points([[1.0]], count)


@pytest.mark.parametrize(
    ("points", "strong", "message"),
    [
        ([[1.0, np.nan]], [[1.0, 1.0]], "NaN"),
        ([[1.0, 1.0]], [[1.0, np.nan]], "NaN"),
        ([[1.0, 1.0]], [[1.0]], r"shape \(n, 2\)"),
    ],
)
def test_bad_input_is_refused(points, strong, message):
    with pytest.raises(InvalidInput, match=message):
        filter_dominated(points, strong)
