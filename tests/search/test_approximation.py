"""An approximate skyline spends no more pages than allowed, and says how far off it may be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.datasets import DISTRIBUTIONS
from skyline import SkylineIndex
from tests.search import reference, strategies


def difference(points, one, other):
    """Share of the volume that exactly one of two skylines dominates; by samples of its own."""
    low, high = points.min(axis=0), points.max(axis=0)
    samples = low + np.random.default_rng(99).random((4000, points.shape[1])) * (high - low)

    def below(corners):
        return (corners[None, :, :] <= samples[:, None, :]).all(axis=2).any(axis=1)

    return float(np.mean(below(one) != below(other)))


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("nodes", [1, 2, 5, 20])
def test_the_true_error_is_within_the_one_reported(distribution, nodes):
    points = DISTRIBUTIONS[distribution](30_000, 3, 5)
    index = SkylineIndex(points)
    exact = points[list(index.skyline())]
    got = index.approximate(nodes)
    assert got.node_accesses <= nodes
    assert got.hypothetical.any() != got.complete
    assert difference(points, got.points, exact) <= got.error + 0.02
    known = ~got.hypothetical
    assert (points[got.ids[known]] == got.points[known]).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_bound_holds_where_nodes_hold_few_objects(d):
    """A guess lies behind the best face of its box, which an object touches: with few objects, far behind."""
    for seed in range(20):
        points = np.random.default_rng(seed).random((30, d))
        got = SkylineIndex(points, page=64).approximate(1)
        exact = points[list(SkylineIndex(points).skyline())]
        assert not got.complete
        assert difference(points, got.points, exact) <= got.error + 0.02


def test_more_pages_never_make_the_bound_worse_in_the_long_run():
    index = SkylineIndex(DISTRIBUTIONS["anti-correlated"](50_000, 3, 6))
    errors = [index.approximate(nodes).error for nodes in (1, 10, 100, 10_000)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == 0.0


@settings(deadline=None, max_examples=100)
@given(st.data(), strategies.points(max_dims=4), st.integers(1, 30))
def test_a_search_with_enough_pages_gives_the_skyline_itself(data, points, nodes):
    directions = data.draw(strategies.directions(points.shape[1]))
    index = SkylineIndex(points, directions, page=64)
    got = index.approximate(nodes)
    assert 0.0 <= got.error <= 1.0
    assert got.points.shape == (len(got.ids), points.shape[1])
    if got.complete:
        assert got.error == 0.0
        assert got.ids.tolist() == reference.search(points, directions)
        assert np.array_equal(got.points, points[got.ids])


def test_tombstones_loosen_the_bound_but_do_not_break_it():
    """A node whose best point died has a box that nothing touches any more."""
    points = DISTRIBUTIONS["anti-correlated"](20_000, 3, 7)
    index = SkylineIndex(points)
    index.delete(list(index.skyband(3)))
    alive = np.delete(points, list(SkylineIndex(points).skyband(3)), axis=0)
    exact = alive[list(SkylineIndex(alive).skyline())]
    for nodes in (1, 5, 25):
        got = index.approximate(nodes)
        assert difference(points, got.points, exact) <= got.error + 0.02
