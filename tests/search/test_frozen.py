"""A frozen index answers for the moment at which it was frozen, whatever happens to the index later."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline import SkylineIndex
from tests import naive
from tests.search import reference, strategies


def disturb(index: SkylineIndex, count: int, dims: int, labelled: bool) -> None:
    """Moves, removes and adds objects, and packs everything anew."""
    labels = [0, 0] if labelled else None
    index.insert([0, 10_000], np.full((2, dims), -1e300), labels)
    index.delete(np.arange(0, count, 2))
    index.compact()


def partaking(points, labels, low=None, high=None, label=None):
    """Rows in the box and of the label."""
    return [
        row
        for row in range(len(points))
        if (low is None or (points[row] >= low).all())
        and (high is None or (points[row] <= high).all())
        and (label is None or labels[row] == label)
    ]


def space(points, directions, dims=None, reference_point=None):
    """Points in the question's space."""
    inward = reference.inward(points, directions)
    for dim, value in enumerate(reference_point or ()):
        if value is not None:
            inward[:, dim] = np.abs(points[:, dim] - value)
    return inward[:, list(range(points.shape[1])) if dims is None else dims]


@settings(max_examples=150)
@given(st.data(), strategies.points(max_dims=3), strategies.PAGES)
def test_searches_see_the_moment_of_freezing(data, points, page):
    n, dims = points.shape
    directions = data.draw(strategies.directions(dims))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    options = data.draw(strategies.options(dims, labels=True))
    index = SkylineIndex(points, directions, labels=labels, page=page)
    frozen = index.freeze()
    expected = reference.search(points, directions, None, labels, **options)
    disturb(index, n, dims, labelled=True)
    assert list(frozen.search(**options)) == expected


@settings(max_examples=150)
@given(st.data(), strategies.points(max_dims=3), strategies.PAGES)
def test_with_labels_nothing_dominates_across_them(data, points, page):
    n, dims = points.shape
    directions = data.draw(strategies.directions(dims))
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    options = data.draw(strategies.options(dims))
    options.pop("limit", None)
    index = SkylineIndex(points, directions, labels=labels, page=page)
    expected = {
        member
        for label in set(labels)
        for member in reference.search(points, directions, None, labels, label=label, **options)
    }
    got = list(index.freeze().search(labels=[3, 1, 0, 2], **options))
    assert len(got) == len(expected)
    assert set(got) == expected


@settings(max_examples=200)
@given(st.data(), strategies.points(max_dims=3), strategies.PAGES, st.booleans())
def test_dominated_counts_those_that_take_part_in_the_question_s_space(data, points, page, grouped):
    n, dims = points.shape
    directions = data.draw(strategies.directions(dims))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    options = data.draw(strategies.options(dims, labels=True))
    options.pop("limit", None)
    index = SkylineIndex(points, directions, labels=labels, page=page)
    frozen = index.freeze()
    members = frozen.search(**options, labels=[0, 1, 2] if grouped else None)
    places = members.places()
    disturb(index, n, dims, labelled=True)
    seen = space(points, directions, options.get("dims"), options.get("reference"))
    rows = partaking(points, labels, options.get("low"), options.get("high"), options.get("label"))
    expected = [
        sum(naive.dominates(seen[row], seen[other]) for other in rows if not grouped or labels[other] == labels[row])
        for row in places[:, 0]
    ]
    assert frozen.dominated(members.query, places).tolist() == expected


@settings(max_examples=100)
@given(st.data(), strategies.points(max_dims=3), strategies.PAGES)
def test_within_gives_what_lies_in_the_box(data, points, page):
    n, dims = points.shape
    low, high = data.draw(strategies.boxes(dims))
    index = SkylineIndex(points, page=page)
    frozen = index.freeze()
    disturb(index, n, dims, labelled=False)
    expected = partaking(points, None, low, high)
    places = frozen.within(low, high, None, 1000)
    assert sorted(places[:, 0].tolist()) == expected
    np.testing.assert_array_equal(frozen.rows(places), points[places[:, 0]] + 0.0)
    few = frozen.within(low, high, None, 3)[:, 0].tolist()
    assert len(few) == min(3, len(expected))
    assert set(few) <= set(expected)


def test_samples_are_live_objects_each_once():
    index = SkylineIndex(np.random.default_rng(1).random((5000, 2)))
    index.delete(np.arange(0, 5000, 2))
    index.insert([7000], [[0.5, 0.5]])
    frozen = index.freeze()
    rng = np.random.default_rng(2)
    everybody = set(range(1, 5000, 2)) | {7000}
    assert set(frozen.sample(10_000, rng).tolist()) == everybody
    few = frozen.sample(300, rng).tolist()
    assert len(few) == 300
    assert len(set(few)) == len(few)
    assert set(few) <= everybody
    assert SkylineIndex(np.empty((0, 2))).freeze().sample(5, rng).tolist() == []


def test_an_approximation_speaks_for_the_moment_of_freezing():
    points = np.random.default_rng(3).random((3000, 2))
    index = SkylineIndex(points)
    frozen = index.freeze()
    index.insert([9000], [[-1.0, -1.0]])
    rough = frozen.approximate(10_000)
    assert rough.complete
    assert sorted(rough.ids.tolist()) == sorted(SkylineIndex(points).skyline())
