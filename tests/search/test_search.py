"""`search` gives what the definitions give, in the documented order, for every combination of its options."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline import SkylineIndex
from tests import naive
from tests.search import reference, strategies


@settings(deadline=None, max_examples=400)
@given(st.data(), strategies.points(), strategies.PAGES)
def test_any_combination_of_options_gives_the_definition_in_order(data, points, page):
    dims = points.shape[1]
    directions = data.draw(strategies.directions(dims))
    options = data.draw(strategies.options(dims))
    index = SkylineIndex(points, directions, page=page)
    assert list(index.search(**options)) == reference.search(points, directions, **options)


@settings(deadline=None, max_examples=150)
@given(st.data(), strategies.points(max_dims=3), strategies.PAGES)
def test_labels_and_ids_of_the_caller_combine_with_all_options(data, points, page):
    n, dims = points.shape
    directions = data.draw(strategies.directions(dims))
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    ids = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n, unique=True))
    options = data.draw(strategies.options(dims, labels=True))
    index = SkylineIndex(points, directions, ids=ids, labels=labels, page=page)
    assert list(index.search(**options)) == reference.search(points, directions, ids, labels, **options)


@pytest.mark.parametrize("dims", [1, 2, 3, 5, 8, 16])
@pytest.mark.parametrize("kind", ["floats", "grid", "anti-correlated", "infinite"])
@pytest.mark.parametrize("k", [1, 3])
def test_larger_data_of_every_kind(dims, kind, k):
    """Hundreds of members: blocks of the frontier fill and merge, the heap grows, trees have three levels and more."""
    rng = np.random.default_rng(dims * 10 + k)
    points = rng.random((1500, dims))
    if kind == "grid":
        points = np.floor(points * 4)
    elif kind == "anti-correlated":
        points /= points.sum(axis=1, keepdims=True)
    elif kind == "infinite":
        points[rng.random(points.shape) < 0.1] = np.inf
        points[rng.random(points.shape) < 0.02] = -np.inf
    index = SkylineIndex(points, page=300)
    got = list(index.skyband(k))
    assert sorted(got) == fast_skyband(points, k)
    keys = [(reference.key(points[row], [1.0] * dims), points[row].tolist(), row) for row in got]
    assert keys == sorted(keys)


@pytest.mark.parametrize("page", [64, 4096])
def test_ten_thousand_equal_points_are_all_members(page):
    index = SkylineIndex(np.full((10_000, 3), 0.5), page=page)
    assert list(index.skyline()) == list(range(10_000))
    assert list(index.skyband(5)) == list(range(10_000))
    index.insert([10_000], [[0.4, 0.5, 0.5]])
    assert list(index.skyline()) == [10_000]
    assert list(index.skyband(2)) == [10_000, *range(10_000)]


def test_a_member_dominated_by_k_duplicates_is_out():
    """Equal points are kept once with their multiplicity; it counts."""
    points = [[1.0, 1.0]] * 3 + [[2.0, 2.0]] * 2
    index = SkylineIndex(points)
    assert list(index.skyband(3)) == [0, 1, 2]
    assert list(index.skyband(4)) == [0, 1, 2, 3, 4]


def test_a_straight_line_of_members_that_tie_in_mindist():
    """All sums equal: the order is lexicographic, the worst for a structure that hopes for chance."""
    x = np.arange(20_000.0)
    index = SkylineIndex(np.column_stack([x, 20_000.0 - x]))
    assert list(index.skyline()) == list(range(20_000))


def test_rounded_sums_do_not_let_a_dominated_point_come_first():
    """1e17 swallows the ones: sums tie although one point dominates the other."""
    points = [[1e17, 3.0], [1e17, 1.0], [1e17, 2.0]]
    assert list(SkylineIndex(points).skyline()) == [1]
    assert list(SkylineIndex(points).skyband(2)) == [1, 2]


def test_names_of_dimensions_serve_as_dims():
    index = SkylineIndex([[80, 4.1], [70, 3.0], [90, 4.9]], {"price": "min", "rating": "max"})
    assert list(index.search(dims=["rating"])) == [2]
    assert list(index.search(dims="price")) == [1]
    assert list(index.search(dims=["rating", 0])) == list(index.search(dims=[1, "price"]))


def fast_skyband(points, k):
    """naive.skyband with the pairs compared by numpy."""
    if len(points) <= 50:
        return naive.skyband(points, k)
    return [
        row
        for row in range(len(points))
        if ((points <= points[row]).all(axis=1) & (points < points[row]).any(axis=1)).sum() < k
    ]
