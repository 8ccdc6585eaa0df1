"""skyline_of and skyband_of give exactly what the definitions say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline import skyband_of, skyline_of
from skyline.errors import InvalidInput
from tests import naive
from tests.batch import reference, strategies


@settings(deadline=None, max_examples=200)
@given(st.data(), strategies.points())
def test_skyline_of_is_the_skyline(data, points):
    directions = data.draw(strategies.directions(points.shape[1]))
    expected = naive.skyline(reference.normalised(points, directions))
    assert skyline_of(points, directions).tolist() == expected


@settings(deadline=None, max_examples=200)
@given(st.data(), strategies.points(), st.integers(1, 12))
def test_skyband_of_is_the_skyband(data, points, k):
    directions = data.draw(strategies.directions(points.shape[1]))
    expected = naive.skyband(reference.normalised(points, directions), k)
    assert skyband_of(points, k, directions).tolist() == expected


@settings(deadline=None, max_examples=50)
@given(strategies.points(max_dimensions=5))
def test_the_result_depends_on_no_direction_but_through_negation(points):
    flipped = ["max"] * points.shape[1]
    assert skyline_of(-points, flipped).tolist() == skyline_of(points).tolist()


def test_rows_are_int64_and_ascending():
    rows = skyline_of(np.random.default_rng(1).random((5000, 4)))
    assert rows.dtype == np.int64
    assert (np.diff(rows) > 0).all()


def test_equal_points_are_members_together():
    assert skyline_of([[1.0, 2.0], [1.0, 2.0], [2.0, 2.0], [1.0, 2.0]]).tolist() == [0, 1, 3]


def test_equal_dominators_count_one_by_one():
    points = [[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]]
    assert skyband_of(points, 2).tolist() == [0, 1]
    assert skyband_of(points, 3).tolist() == [0, 1, 2]


def test_both_zeros_are_equal():
    assert skyline_of([[0.0, -0.0], [-0.0, 0.0]]).tolist() == [0, 1]
    assert skyline_of([[0.0, -0.0], [-0.0, 0.0]], ["max", "min"]).tolist() == [0, 1]


@pytest.mark.parametrize("d", [1, 2, 3, 4, 8])
def test_infinities_are_values(d):
    best, worst = np.full(d, -np.inf), np.full(d, np.inf)
    assert skyline_of([worst, best, worst, best]).tolist() == [1, 3]
    assert skyline_of([worst, worst]).tolist() == [0, 1]


def test_opposite_infinities_do_not_confuse_the_order():
    points = np.array([[np.inf, -np.inf, 0.0, 1.0], [np.inf, -np.inf, 0.0, 0.0], [-np.inf, np.inf, 0.0, 0.0]])
    assert skyline_of(points).tolist() == [1, 2]


@pytest.mark.parametrize("empty", [[], np.empty((0, 3)), np.empty((0, 1))])
def test_no_points_have_no_members(empty):
    assert skyline_of(empty).tolist() == []
    assert skyband_of(empty, 5).tolist() == []


def test_one_point_is_its_own_skyline():
    assert skyline_of([[3.0, 4.0]]).tolist() == [0]


def test_k_beyond_the_number_of_rows_keeps_all():
    assert skyband_of(np.arange(6.0).reshape(6, 1), 100).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("points", "directions", "message"),
    [
        ([[1.0, np.nan]], None, "row 0: d1 is NaN"),
        ([[1.0, np.nan]], ["max", "max"], "row 0: d1 is NaN"),
        ([1.0, 2.0], None, r"shape \(n, d\), got \(2,\)"),
        (np.zeros((2, 2, 2)), None, r"shape \(n, d\)"),
        (np.zeros((2, 0)), None, "1 to 16 dimensions, got 0"),
        (np.zeros((2, 17)), None, "1 to 16 dimensions, got 17"),
        ([["a", "b"]], None, "must be numbers"),
        ([[1.0, 2.0]], ["min"], "1 directions given for points of 2 dimensions"),
        ([[1.0, 2.0]], ["min", "up"], "'up'"),
    ],
)
def test_bad_points_are_refused_with_a_reason(points, directions, message):
    with pytest.raises(InvalidInput, match=message):
        skyline_of(points, directions)


def test_a_nan_anywhere_in_a_large_array_is_found():
    points = np.random.default_rng(1).random((100_000, 3))
    points[77_777, 2] = np.nan
    with pytest.raises(InvalidInput, match="row 77777: d2 is NaN"):
        skyline_of(points)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2", None])
def test_k_must_count(k):
    with pytest.raises(InvalidInput, match="k must be an integer of at least 1"):
        skyband_of([[1.0, 2.0]], k)


@pytest.mark.parametrize("threads", [0, -2, 1.5, True])
def test_threads_must_count(threads):
    with pytest.raises(InvalidInput, match="threads must be an integer of at least 1"):
        skyline_of([[1.0, 2.0]], threads=threads)


def test_the_caller_s_array_is_left_as_it_was():
    points = np.random.default_rng(1).random((30_000, 4))
    before = points.copy()
    skyline_of(points, ["max", "min", "max", "min"])
    assert (points == before).all()


@pytest.mark.parametrize("layout", ["read-only", "column-major", "strided", "integers", "float32", "lists"])
def test_any_array_will_do(layout):
    points = np.random.default_rng(1).integers(0, 1000, (3000, 4)).astype(np.float64)
    expected = skyline_of(points).tolist()
    if layout == "read-only":
        points.setflags(write=False)
    elif layout == "column-major":
        points = np.asfortranarray(points)
    elif layout == "strided":
        points = np.repeat(points, 2, axis=0)[::2]
    elif layout == "integers":
        points = points.astype(np.int64)
    elif layout == "float32":
        points = points.astype(np.float32)
    else:
        points = points.tolist()
    assert skyline_of(points).tolist() == expected
