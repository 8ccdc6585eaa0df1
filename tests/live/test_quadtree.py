"""The quadtree holds what was put into it, in tight boxes and proper cells, whatever the scale of the data."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.live.blocktree import entries
from skyline.live.quadtree import Quadtree
from skyline.live.quadtree_kernels import END
from skyline.view import Floats
from tests.live.trees import clouds, placed


def filled(points: Floats, bucket: int = 4) -> Quadtree:
    tree = Quadtree(points.shape[1], bucket)
    for slot, place in enumerate(points):
        tree.insert(slot, place)
    tree._check()
    return tree


@settings(max_examples=150, deadline=None)
@given(clouds(), st.randoms(use_true_random=False))
def test_it_holds_exactly_what_was_inserted_and_not_deleted(points: Floats, random: Random) -> None:
    places = placed(points)
    tree, inside = Quadtree(places.shape[1], bucket=4), set()
    for _ in range(3):
        order = list(range(len(places)))
        random.shuffle(order)
        for slot in order[: 2 * len(order) // 3 + 1]:
            if slot in inside:
                tree.delete(slot, places[slot])
            else:
                tree.insert(slot, places[slot])
            inside ^= {slot}
        tree._check()
        assert {(slot, tuple(place)) for slot, place in entries(tree.blocks())} == {
            (s, tuple(places[s])) for s in inside
        }
        assert len(tree) == len(inside)
    for slot in sorted(inside):
        tree.delete(slot, places[slot])
    tree._check()
    assert len(tree) == 0


@pytest.mark.parametrize(
    "points",
    [
        pytest.param([[-1.0, 0.0], [-5e-324, 0.0]], id="a width that rounds up to the next power of two"),
        pytest.param([[-(2.0**60), 0.0], [-5e-324, 0.0]], id="a quotient that vanishes"),
        pytest.param([[2.0**52 + 1, 0.0], [2.0**52 + 1, 0.25]], id="no middle between neighbouring floats"),
        pytest.param([[-1.0, 1.0], [1.0, 1.0]], id="either side of the origin"),
        pytest.param([[1e-250, 0.0], [2e-250, 0.0]], id="closer than the narrowest cell"),
        pytest.param([[0.0, 0.0], [0.0, 0.0]], id="equal"),
    ],
)
def test_cells_fit_where_floats_are_awkward(points: list[list[float]]) -> None:
    """Six of each, so that a bucket of four must be cut, or chained where that is impossible."""
    tree = filled(np.array(points * 6))
    for slot, place in enumerate(np.array(points * 6)):
        tree.delete(slot, place)
        tree._check()


def test_depth_follows_the_data_and_not_its_distance_from_the_origin() -> None:
    """The same grid makes the same number of blocks, near the origin and far out on a fine scale."""
    grid = np.array([[x, y] for x in range(8) for y in range(8)], float)
    sizes = {int(filled(offset + grid * scale)._state[END]) for offset, scale in [(0.0, 1.0), (2.0**40, 2.0**-10)]}
    assert len(sizes) == 1


def test_many_duplicates_share_a_chain_and_a_newcomer_cuts_it() -> None:
    tree = filled(np.ones((100, 3)))
    tree.insert(100, np.array([1.0, 1.0, 2.0]))
    tree._check()
    for slot in range(100):
        tree.delete(slot, np.ones(3))
    tree._check()
    assert [slot for slot, _ in entries(tree.blocks())] == [100]


def test_what_is_not_there_cannot_be_deleted() -> None:
    tree = filled(np.array([[0.0, 1.0], [2.0, 3.0]]))
    with pytest.raises(KeyError):
        tree.delete(7, np.array([0.0, 1.0]))
    assert len(tree) == 2
    tree._check()


def test_blocks_are_reused() -> None:
    rng = np.random.default_rng(3)
    points = rng.random((300, 2))
    tree = filled(points)
    blocks = len(tree._quad.leaf)
    for _ in range(10):
        for slot in range(300):
            tree.delete(slot, points[slot])
            points[slot] = rng.random(2)
            tree.insert(slot, points[slot])
    tree._check()
    assert len(tree._quad.leaf) <= 2 * blocks
