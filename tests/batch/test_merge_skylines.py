"""Skylines found in parts and put together are the skyline of everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.batch import SkylineMerge, merge_skylines, skyband_of
from skyline.errors import InvalidInput
from tests import naive
from tests.batch import reference, strategies


def _cut(data, points):
    """The points in up to four parts, some of them without rows."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(points)), max_size=3)))
    return np.split(points, cuts)


@settings(deadline=None, max_examples=100)
@given(st.data(), strategies.points(), st.integers(1, 4))
def test_the_skyband_of_the_parts_skybands_is_the_skyband(data, points, k):
    directions = data.draw(strategies.directions(points.shape[1]))
    parts = _cut(data, points)
    found = [part[skyband_of(part, k, directions)] for part in parts]
    merged = [part[rows] for part, rows in zip(found, merge_skylines(found, directions, k), strict=True)]
    expected = naive.skyband(reference.normalised(points, directions), k)
    np.testing.assert_array_equal(np.concatenate(merged), points[expected])


@settings(deadline=None, max_examples=100)
@given(st.data(), strategies.points(), st.integers(1, 4))
def test_a_merge_is_exact_after_every_batch(data, points, k):
    directions = data.draw(strategies.directions(points.shape[1]))
    merge = SkylineMerge(directions, k)
    seen = 0
    for part in _cut(data, points):
        rows = merge.add(part)
        expected = naive.skyband(reference.normalised(points[: seen + len(part)], directions), k)
        assert merge.ids.tolist() == expected
        assert (seen + rows).tolist() == [row for row in expected if row >= seen]
        np.testing.assert_array_equal(merge.points, points[expected])
        assert len(merge) == len(expected)
        seen += len(part)


@pytest.mark.parametrize("k", [1, 5])
def test_large_batches_give_what_one_call_gives(k):
    points = np.random.default_rng(1).random((60_000, 4))
    merge = SkylineMerge(["min"] * 4, k, threads=2)
    for start in range(0, len(points), 15_000):
        merge.add(points[start : start + 15_000])
    assert merge.ids.tolist() == skyband_of(points, k).tolist()


def test_ids_may_be_the_caller_s_own():
    merge = SkylineMerge(["min", "max"])
    assert merge.add([[3.0, 3.0], [2.0, 3.0]], ids=[70, 50]).tolist() == [1]
    assert merge.add([[1.0, 1.0], [2.0, 3.0]], ids=[60, 50]).tolist() == [0, 1]
    assert merge.ids.tolist() == [50, 60, 50]


def test_a_batch_that_is_refused_changes_nothing():
    merge = SkylineMerge(["min", "min"])
    merge.add([[2.0, 2.0]])
    one = [[1.0, 1.0]]
    for points, ids in [([[1.0, np.nan]], None), ([[1.0]], None), (one, [1, 2]), (one, [0.5]), (one, [2**63])]:
        with pytest.raises(InvalidInput):
            merge.add(points, ids)
    assert merge.ids.tolist() == [0]
    assert merge.add([[1.0, 3.0]]).tolist() == [0]
    assert merge.ids.tolist() == [0, 1]


def test_ids_cannot_be_changed_from_outside():
    merge = SkylineMerge(["min"])
    merge.add([[2.0]])
    merge.ids[0] = 99
    assert merge.ids.tolist() == [0]


def test_no_parts_and_parts_without_rows_merge():
    assert merge_skylines([]) == []
    assert [rows.tolist() for rows in merge_skylines([[], np.empty((0, 2)), [[1.0, 2.0]]])] == [[], [], [0]]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([[[1.0, 2.0]], [[1.0]]], "same dimensions"),
        ([[[1.0, np.nan]]], "NaN"),
        ([["a"]], "numbers"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts, message):
    with pytest.raises(InvalidInput, match=message):
        merge_skylines(parts)


def test_k_must_count_even_if_there_is_nothing_to_merge():
    with pytest.raises(InvalidInput, match="k must be"):
        merge_skylines([], k=0)
