"""grouped_skyline_of gives each group's skyband, as if it stood alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.batch import grouped_skyline_of, skyband_of
from skyline.errors import InvalidInput
from tests import naive
from tests.batch import reference, strategies


@settings(deadline=None, max_examples=150)
@given(st.data(), strategies.points(), st.integers(1, 4))
def test_every_group_has_its_own_skyband(data, points, k):
    directions = data.draw(strategies.directions(points.shape[1]))
    labels = data.draw(st.lists(st.integers(-3, 3), min_size=len(points), max_size=len(points)))
    inward = reference.normalised(points, directions)
    expected = []
    for label in set(labels):
        rows = [row for row, other in enumerate(labels) if other == label]
        expected += [rows[at] for at in naive.skyband(inward[rows], k)]
    assert grouped_skyline_of(points, labels, directions, k).tolist() == sorted(expected)


@pytest.mark.parametrize("groups", [1, 3, 40, 5000])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("anticorrelated", [False, True])
def test_groups_of_any_size_agree_with_one_call_per_group(groups, k, anticorrelated):
    """Small groups, large ones, and those that turn out to be too much for nested loops."""
    rng = np.random.default_rng(groups)
    points = rng.random((20_000, 4))
    if anticorrelated:
        points /= points.sum(axis=1, keepdims=True)
        points[::5] += 0.01
    labels = rng.integers(0, groups, len(points))
    expected = []
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        expected += rows[skyband_of(points[rows], k)].tolist()
    assert grouped_skyline_of(points, labels, k=k).tolist() == sorted(expected)


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b", "a"],
        np.array([2**62, -(2**62), 2**62, -(2**62)]),
        np.array([2**64 - 1, 0, 2**64 - 1, 0], dtype=np.uint64),
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 1, 2**64 - 2], dtype=np.uint64),
        np.array([0.5, -1.0, 0.5, -1.0]),
        np.array([True, False, True, False]),
        np.array(["b", "a", "b", "a"], dtype=object),
    ],
)
def test_labels_may_be_of_any_kind(labels):
    assert grouped_skyline_of([[2.0], [2.0], [1.0], [3.0]], labels).tolist() == [1, 2]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint64])
def test_labels_may_fill_the_range_of_a_narrow_type(kind):
    """127 - -128 overflows an int8."""
    labels = np.arange(256).astype(kind)
    assert grouped_skyline_of(np.random.default_rng(1).random((256, 2)), labels).tolist() == list(range(256))


def test_no_rows_have_no_members():
    assert grouped_skyline_of(np.empty((0, 3)), []).tolist() == []


@pytest.mark.parametrize("labels", [[1], [1, 2, 3], [[1, 2]], 5])
def test_labels_must_be_one_per_row(labels):
    with pytest.raises(InvalidInput, match=r"labels must have shape \(2,\)"):
        grouped_skyline_of([[1.0], [2.0]], labels)


def test_labels_that_cannot_be_sorted_are_refused():
    with pytest.raises(InvalidInput, match="can be sorted"):
        grouped_skyline_of([[1.0], [2.0]], np.array(["a", None], dtype=object))


def test_ragged_labels_are_refused():
    with pytest.raises(InvalidInput, match="labels must be a sequence"):
        grouped_skyline_of([[1.0], [2.0]], [[1], [2, 3]])


def test_nan_is_refused():
    with pytest.raises(InvalidInput, match="row 1: d0 is NaN"):
        grouped_skyline_of([[1.0], [np.nan]], [1, 2])
