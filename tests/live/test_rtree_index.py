"""The searches of the papers' indexes against the definitions, and libspatialindex's tree behind one of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.live.blocktree import entries
from skyline.live.blocktree_kernels import dominated_by, farthest_dominator, is_dominated, mini_skyline
from skyline.live.esc_kernels import two_skylines
from skyline.live.rtree_index import RStarTree
from skyline.view import Floats
from tests import naive
from tests.live.trees import ANY, EXTREME, INDEXES, clouds, placed


@given(st.lists(ANY | EXTREME, min_size=2, max_size=20))
def test_places_keep_the_order_and_are_small_enough_for_volumes(values: list[float]) -> None:
    points = np.array(sorted(values))[:, None]
    places = placed(points)
    assert places.shape == (len(values), 2)
    assert (np.diff(places[:, 0]) >= 0).all()
    assert (np.abs(places) <= 2.0**60).all()
    ordinary = np.abs(points[:, 0]) < 2.0**50
    assert (places[ordinary, 0] == points[ordinary, 0]).all()
    assert ((np.abs(places[:, 0]) == 2.0**60) == np.isinf(points[:, 0])).all()


@pytest.mark.parametrize("index", INDEXES)
@settings(max_examples=80, deadline=None)
@given(points=clouds())
def test_searches_agree_with_the_definitions(index: str, points: Floats) -> None:
    """The last third of the points is asked about, the others are in the tree."""
    places = placed(points)
    inside = list(range(max(1, 2 * len(points) // 3)))
    tree = INDEXES[index](places.shape[1])
    for slot in inside:
        tree.insert(slot, places[slot])
    tree._check()
    blocks = tree.blocks()
    for asked in range(len(points)):
        query = points[asked : asked + 1], places[asked : asked + 1]
        dominators = [s for s in inside if naive.dominates(points[s], points[asked])]
        dominated = [s for s in inside if naive.dominates(points[asked], points[s])]
        assert is_dominated(blocks, points, *query) == bool(dominators)
        farthest = farthest_dominator(blocks, points, places, *query)
        if dominators:
            totals = {s: sum(places[s].tolist()) for s in dominators}
            assert totals[int(farthest)] == max(totals.values())
        else:
            assert farthest == -1
        assert sorted(dominated_by(blocks, points, *query).tolist()) == dominated
        mini = [dominated[row] for row in naive.skyline([points[s] for s in dominated])]
        assert sorted(mini_skyline(blocks, points, places, *query).tolist()) == mini


@pytest.mark.parametrize("index", INDEXES)
def test_an_empty_tree_finds_nothing(index: str) -> None:
    points = np.zeros((1, 2))
    blocks = INDEXES[index](2).blocks()
    assert not is_dominated(blocks, points, points, points)
    assert not len(dominated_by(blocks, points, points, points))
    assert not len(mini_skyline(blocks, points, points, points, points))


@settings(max_examples=60, deadline=None)
@given(clouds())
def test_one_traversal_gives_both_skylines_and_the_owners(points: Floats) -> None:
    places, slots = placed(points), np.arange(len(points))
    tree = RStarTree(places.shape[1], slots, places, capacity=5)
    first, second, owners = (found.tolist() for found in two_skylines(tree.blocks(), points, places))
    assert sorted(first) == naive.skyline(points)
    rest = [s for s in slots.tolist() if s not in first]
    assert sorted(second) == [rest[row] for row in naive.skyline([points[s] for s in rest])]
    for slot, owner in zip(second, owners, strict=True):
        totals = [sum(places[s].tolist()) for s in first if naive.dominates(points[s], points[slot])]
        assert naive.dominates(points[first[owner]], points[slot])
        assert sum(places[first[owner]].tolist()) == max(totals)


@settings(max_examples=40, deadline=None)
@given(clouds(11, 40), st.integers(5, 30))
def test_pages_show_the_tree_while_it_grows_shrinks_and_grows(points: Floats, capacity: int) -> None:
    places = placed(points)
    tree = RStarTree(places.shape[1], capacity=capacity)
    for first, last in ((0, len(points)), (5, len(points))):
        for slot in range(first, len(points)):
            tree.insert(slot, places[slot])
        tree._check()
        for slot in range(5, last):
            tree.delete(slot, places[slot])
        tree._check()
        assert tree.slots() == set(range(5))


def test_a_packed_tree_is_the_one_that_libspatialindex_packed() -> None:
    points = np.random.default_rng(5).random((3000, 3))
    tree = RStarTree(3, np.arange(3000), points)
    tree._check()
    assert {slot: tuple(place) for slot, place in entries(tree.blocks())} == dict(enumerate(map(tuple, points)))


def test_deleting_from_a_place_where_the_slot_is_not_is_noticed() -> None:
    tree = RStarTree(2, np.arange(3), np.eye(3, 2))
    with pytest.raises(KeyError):
        tree.delete(1, np.array([0.5, 0.5]))
    assert len(tree) == 3
    tree._check()
