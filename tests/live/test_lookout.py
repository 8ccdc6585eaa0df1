"""What is particular to the engine `lookout`: two indexes, searches by the corners of boxes, a second heap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline import NEVER, InvalidInput, Skyline
from skyline.live.lookout import INDEXES, LookOut
from tests import naive

coordinates = st.sampled_from([0.0, 1.0, 2.0, 3.0, 1e300, float("inf"), float("-inf")])


def skyline(dimensions: int, index: str, **options: float) -> Skyline:
    return Skyline({f"d{i}": "min" for i in range(dimensions)}, engine="lookout", index=index, **options)


def engine(live: Skyline) -> LookOut:
    assert isinstance(live._engine, LookOut)
    return live._engine


@pytest.mark.parametrize("index", INDEXES)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_the_skyline_holds_after_every_arrival_move_and_departure(index: str, data: st.DataObject) -> None:
    d = data.draw(st.integers(1, 4))
    point = st.tuples(*[coordinates] * d)
    steps = data.draw(st.lists(st.tuples(st.sampled_from("abcdefghijkl"), st.none() | point), max_size=30))
    live, points = skyline(d, index), {}
    for key, value in steps:
        live.apply([key], [value or [0.0] * d], deleted=[value is None])
        points.pop(key, None)
        if value is not None:
            points[key] = value
        assert set(live.members()) == naive.members(points)
        live._check()


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_time_intervals_as_in_the_paper(index: str, dimensions: int) -> None:
    """Every object comes at a random time and expires at a later one; after each, the skyline is that of the valid."""
    rng = np.random.default_rng(dimensions)
    points = rng.random((150, dimensions)).round(2)
    arrive = np.sort(rng.integers(0, 1000, 150))
    expire = rng.integers(arrive, 1000)
    live = skyline(dimensions, index)
    for row, at in enumerate(arrive.tolist()):
        live.apply([row], points[row : row + 1], valid_until=[expire[row]], at=at)
        valid = {r: tuple(points[r]) for r in range(row + 1) if expire[r] > at}
        assert set(live.members()) == naive.members(valid)
        if row % 30 == 0:
            live._check()
    live.advance(1001)
    assert live.objects == 0
    assert not engine(live)._groups


@pytest.mark.parametrize("index", INDEXES)
def test_a_box_whose_lower_corner_equals_the_point_or_touches_it_is_judged_rightly(index: str) -> None:
    """isSkyline may only discard a node by its lower corner if that exceeds the point somewhere."""
    live = skyline(2, index)
    live.apply(np.arange(40), np.repeat([[1.0, 2.0], [1.0, 3.0]], 20, axis=0))
    assert set(live.members()) == set(range(20))
    live.apply([99], [[1.0, 2.0]])
    assert 99 in live.members()
    live.apply([99], [[1.0, 2.5]])
    assert 99 not in live.members()


@pytest.mark.parametrize("index", INDEXES)
def test_mini_finds_what_lies_in_nodes_that_only_reach_into_the_dominance_region(index: str) -> None:
    """Their lower corners lie outside of it: a node may only be discarded by its upper corner."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-10, 10, (200, 2))
    points = points[points.sum(axis=1) > 0]
    live = skyline(2, index)
    live.apply(np.arange(len(points)), points)
    live.apply([999], [[-0.01, -0.01]])
    live.apply([999], [[0, 0]], deleted=[True])
    assert sorted(live.members()) == naive.skyline(points.tolist())


@pytest.mark.parametrize("index", INDEXES)
def test_the_second_heap_knows_when_the_skyline_will_lose_a_member(index: str) -> None:
    live = skyline(1, index)
    lookout = engine(live)
    assert lookout.next_loss() == NEVER
    live.apply(["a", "b"], [[1], [2]], valid_until=[50, 20], at=0)
    assert lookout.next_loss() == 50
    live.apply(["a"], [[1]], valid_until=[70])
    assert lookout.next_loss() == 70
    live.apply(["a"], [[1]], valid_until=[60])
    assert lookout.next_loss() == 60
    live.apply(["c"], [[0]], valid_until=[30])
    assert lookout.next_loss() == 30
    live.advance(30)
    assert lookout.next_loss() == 60
    live.apply(["a"], [[1]])
    assert lookout.next_loss() == NEVER


@pytest.mark.parametrize("index", INDEXES)
def test_the_second_heap_stays_as_small_as_the_skyline(index: str) -> None:
    live = skyline(1, index)
    for until in range(1000, 3000):
        live.apply([7], [[1]], valid_until=[until])
    assert len(engine(live)._skyline_heap) < 100
    assert engine(live).next_loss() == 2999
    live._check()


@pytest.mark.parametrize("index", INDEXES)
def test_a_loaded_engine_goes_on_where_the_dumped_one_was(index: str) -> None:
    rng = np.random.default_rng(1)
    live = skyline(3, index)
    live.apply(np.arange(300), rng.random((300, 3)).round(1), valid_until=rng.integers(1, 90, 300), at=0)
    copy = Skyline.load(live.dump())
    copy._check()
    assert engine(copy).next_loss() == engine(live).next_loss()
    assert list(copy.advance(100)) == list(live.advance(100))


@pytest.mark.parametrize("options", [{"index": "btree"}, {"capacity": 0}, {"fill": 2.0}, {"bucket": 3}])
def test_unknown_indexes_and_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        skyline(2, **{"index": "rtree", **options})  # type: ignore[arg-type]
