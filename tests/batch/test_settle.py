"""Each way to settle a skyband is exact by itself: sweeps, blocks of bitmaps, the sieve, nested loops.

A call of skyline_of takes the way that suits its points; here every way gets points that it would rarely see.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skyline import skyband_of, skyline_of
from skyline.batch import settle
from skyline.batch.loops import quick_skyband
from skyline.batch.workers import Workers
from tests import naive
from tests.batch import reference, strategies

KINDS = {
    "independent": lambda rng, n, d: rng.random((n, d)),
    "anti-correlated": lambda rng, n, d: _on_a_plane(rng.random((n, d))),
    "grid": lambda rng, n, d: np.floor(rng.random((n, d)) * 6),
    "duplicates": lambda rng, n, d: _on_a_plane(rng.random((n // 3, d)))[rng.integers(0, n // 3, n)],
    "infinite": lambda rng, n, d: _with_infinities(rng, _on_a_plane(rng.random((n, d)))),
    "one value": lambda _, n, d: np.full((n, d), 0.5),
    "zeros": lambda rng, n, d: rng.choice([-0.0, 0.0, 1.0], (n, d)),
}


def _on_a_plane(points):
    return points / points.sum(axis=1, keepdims=True)


def _with_infinities(rng, points):
    points[rng.random(points.shape) < 0.05] = np.inf
    points[rng.random(points.shape) < 0.01] = -np.inf
    return points


def expected(points, k):
    return np.flatnonzero(reference.dominators(points) < k).tolist()


@settings(max_examples=150)
@given(strategies.points(max_rows=60, max_dimensions=16), st.integers(1, 5))
def test_blocks_settle_what_they_would_leave_to_nested_loops(points, k):
    assume(len(points))
    normalised = points + 0.0
    with Workers(1) as workers:
        rows, weights, first = settle._distinct(normalised)
        member = np.empty(len(points), np.bool_)
        member[rows] = settle._by_blocks(normalised[rows], weights, k, workers)
    assert np.flatnonzero(member[first]).tolist() == naive.skyband(points, k)


@settings(max_examples=150)
@given(strategies.points(max_rows=60, max_dimensions=3))
def test_sweeps_settle_up_to_three_dimensions(points):
    assume(len(points))
    distinct = np.unique(points + 0.0, axis=0)
    assert np.flatnonzero(settle._sweep(distinct)).tolist() == naive.skyline(distinct)


@settings(max_examples=150)
@given(strategies.points(max_rows=60), st.integers(1, 8))
def test_nested_loops_settle_all_that_is_small(points, k):
    member = quick_skyband(points + 0.0, k)
    assert member is not None
    assert np.flatnonzero(member).tolist() == naive.skyband(points, k)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16])
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_points_of_every_kind(kind, d):
    """Several rounds of blocks, and ties across the cut between two rounds."""
    points = KINDS[kind](np.random.default_rng(d), 2500, d)
    counts = reference.dominators(points)
    for k in (1, 2, 3, 40):
        assert skyband_of(points, k).tolist() == np.flatnonzero(counts < k).tolist()


@pytest.mark.parametrize("d", [2, 4, 8, 16])
@pytest.mark.parametrize("kind", KINDS)
def test_strong_points_of_every_kind(kind, d):
    points = KINDS[kind](np.random.default_rng(d), 6500, d)
    counts = reference.dominators(points)
    for k in (1, 2, 20):
        assert skyband_of(points, k).tolist() == np.flatnonzero(counts < k).tolist()


@pytest.mark.parametrize("k", [1, 2, 17])
def test_the_sieve_leaves_the_skyband(k):
    points = KINDS["anti-correlated"](np.random.default_rng(k), 12_000, 4)
    points[::2] += 0.02
    assert skyband_of(points, k).tolist() == expected(points, k)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("k", [2, 3])
def test_a_strong_point_that_was_sampled_counts_once(seed, k):
    """Rows that survive the trial contend again; one that was in the sample too once counted as two dominators."""
    points = np.random.default_rng(seed).random((8000, 5))
    assert skyband_of(points, k).tolist() == expected(points, k)


@pytest.mark.parametrize("k", [3000, 9000, 10**12])
def test_k_may_be_as_large_as_it_likes(k):
    points = KINDS["independent"](np.random.default_rng(1), 9000, 4)
    assert skyband_of(points, k).tolist() == expected(points, k)


@pytest.mark.parametrize("kind", ["independent", "anti-correlated", "grid"])
@pytest.mark.parametrize(("n", "d", "k"), [(200_000, 3, 1), (200_000, 5, 1), (40_000, 5, 4)])
def test_the_result_does_not_depend_on_the_number_of_threads(kind, n, d, k):
    points = KINDS[kind](np.random.default_rng(d), n, d)
    alone = skyband_of(points, k, threads=1)
    assert np.array_equal(alone, skyband_of(points, k, threads=2))
    assert np.array_equal(alone, skyband_of(points, k, threads=5))


def test_a_million_points_agree_with_their_own_parts():
    """Too many for the definition: members dominate all others, and one another not at all."""
    points = np.random.default_rng(2).random((1_000_000, 4))
    members = points[skyline_of(points)]
    assert expected(members, 1) == list(range(len(members)))
    others = np.setdiff1d(np.arange(len(points)), skyline_of(points))[::997]
    for other in points[others]:
        assert ((members <= other).all(axis=1) & (members < other).any(axis=1)).any()
