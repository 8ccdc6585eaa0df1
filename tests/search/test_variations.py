"""The named questions mean what the definitions say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline import SkylineIndex
from tests import naive
from tests.search import reference, strategies


@settings(deadline=None, max_examples=150)
@given(st.data(), strategies.points(), strategies.PAGES)
def test_each_named_search_is_its_case_of_the_general_one(data, points, page):
    dims = points.shape[1]
    directions = data.draw(strategies.directions(dims))
    low, high = data.draw(strategies.boxes(dims))
    where = data.draw(st.lists(strategies.FINITE, min_size=dims, max_size=dims))
    weights = data.draw(st.lists(st.floats(0, 10), min_size=dims, max_size=dims))
    k = data.draw(st.integers(1, 5))
    subset = data.draw(st.permutations(range(dims)))[: data.draw(st.integers(1, dims))]
    index = SkylineIndex(points, directions, page=page)

    def expected(**options):
        return reference.search(points, directions, **options)

    assert sorted(index.skyline()) == naive.skyline(reference.inward(points, directions))
    assert sorted(index.skyband(k)) == naive.skyband(reference.inward(points, directions), k)
    assert list(index.constrained(low, high)) == expected(low=low, high=high)
    assert list(index.ranked(weights, k)) == expected(weights=weights, limit=k)
    assert list(index.dynamic(where)) == expected(reference=where)
    assert list(index.subspace(subset)) == expected(dims=subset)
    assert list(index.subspace(subset[0])) == expected(dims=subset[:1])


@settings(deadline=None, max_examples=150)
@given(st.data(), strategies.points(), strategies.PAGES)
def test_grouped_gives_the_skyline_of_every_group(data, points, page):
    n, dims = points.shape
    directions = data.draw(strategies.directions(dims))
    labels = data.draw(st.lists(st.sampled_from([-5, 0, 1, 2**53]), min_size=n, max_size=n))
    options = data.draw(strategies.options(dims))
    options.pop("limit", None)
    expected = {}
    for label in sorted(set(labels)):
        members = reference.search(points, directions, None, labels, label=label, **options)
        if members:
            expected[label] = members
    stored = SkylineIndex(points, directions, labels=labels, page=page).grouped(**options)
    given_late = SkylineIndex(points, directions, page=page).grouped(labels, **options)
    for got in (stored, given_late):
        assert {label: ids.tolist() for label, ids in got.items()} == expected
        assert list(got) == sorted(got)


def test_labels_given_late_may_be_anything_that_sorts():
    index = SkylineIndex([[1, 2], [2, 1], [3, 3], [2, 2]])
    got = index.grouped(["bern", "bern", "genf", "genf"])
    assert {city: ids.tolist() for city, ids in got.items()} == {"bern": [0, 1], "genf": [3]}


@settings(deadline=None, max_examples=150)
@given(st.data(), strategies.points(), strategies.PAGES, st.integers(1, 6))
def test_enumerated_and_dominating_count_what_is_dominated(data, points, page, k):
    directions = data.draw(strategies.directions(points.shape[1]))
    inward = reference.inward(points, directions)
    counts = [sum(naive.dominates(p, q) for q in inward) for p in inward]
    index = SkylineIndex(points, directions, page=page)
    assert index.enumerated() == [(row, counts[row]) for row in index.skyline()]
    ranking = sorted(range(len(points)), key=lambda row: (-counts[row], row))
    assert index.dominating(k) == [(row, counts[row]) for row in ranking[:k]]


def test_dominating_among_thousands_of_candidates():
    points = np.random.default_rng(3).random((4000, 3))
    dominated = [int(((points >= p).all(axis=1) & (points > p).any(axis=1)).sum()) for p in points]
    ranking = sorted(range(4000), key=lambda row: (-dominated[row], row))
    index = SkylineIndex(points, page=200)
    assert index.dominating(25) == [(row, dominated[row]) for row in ranking[:25]]


def test_a_box_around_everything_changes_nothing():
    points = np.random.default_rng(4).random((3000, 3))
    index = SkylineIndex(points)
    assert list(index.constrained([0, 0, 0], [1, 1, 1])) == list(index.skyline())
    assert list(index.constrained([None] * 3, [np.inf] * 3)) == list(index.skyline())
    assert list(index.constrained([2, 2, 2], [3, 3, 3])) == []


@pytest.mark.parametrize("k", [1, 7, 500])
def test_ranked_reads_no_more_than_it_needs(k):
    points = np.random.default_rng(5).random((50_000, 3))
    index = SkylineIndex(points)
    everything = list(index.search(weights=[1, 2, 3]))
    needed = index.node_accesses
    assert list(index.ranked([1, 2, 3], k)) == everything[:k]
    assert index.node_accesses < needed if k == 1 else index.node_accesses <= needed
