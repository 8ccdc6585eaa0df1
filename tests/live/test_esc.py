"""What is particular to the engine `esc`: two skylines, two phases, and the gaps of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline import InvalidInput, Skyline
from skyline.live.esc import Esc
from tests import naive
from tests.live.esc_as_printed import Point, PrintedEsc

Step = tuple[str, Point | None]
coordinates = st.sampled_from([0.0, 1.0, 2.0, 3.0, 1e300, float("inf"), float("-inf")])


def skyline(dimensions: int, **options: float) -> Skyline:
    return Skyline({f"d{i}": "min" for i in range(dimensions)}, engine="esc", **options)


def engine(live: Skyline) -> Esc:
    assert isinstance(live._engine, Esc)
    return live._engine


def take(live: Skyline, steps: list[Step]) -> None:
    for key, point in steps:
        live.apply([key], [point or [0.0] * len(live.dimensions)], deleted=[point is None])
        live._check()


COUNTEREXAMPLES: dict[str, tuple[dict[str, Point], list[Step]]] = {
    # Lines 6-10 judge the moved object before lines 15-24 promote what it dominated; one of those may dominate it now.
    "a member moves behind one of its own dominance set": (
        {"x": (1, 1), "o": (2, 2)},
        [("x", (3, 3))],
    ),
    # Line 10 of Algorithm 4 drops D(a) when a falls from S1 to S2, but q, which a dominates too, is in D(x). Then both
    # are candidates for the place of x, and line 17 of Algorithm 3 takes them in any order.
    "two candidates of which one dominates the other": (
        {"x": (1, 8), "a": (4, 4), "q": (9, 9)},
        [("x", (1, 1)), ("x", None)],
    ),
    # Lines 16-23 leave o in the set of the departed x when another member, y, dominates it. When y goes, nobody asks o.
    "a candidate that another member dominates changes hands": (
        {"x": (2, 3), "y": (3, 1), "o": (4, 4)},
        [("x", None), ("y", None)],
    ),
    # The same when x stays a member but does not dominate o any more.
    "a member moves away from its dominance set": (
        {"x": (2, 3), "y": (3, 1), "o": (4, 4)},
        [("x", (0, 9)), ("y", None)],
    ),
    # Line 7 of Algorithm 4 takes a moved object out of its old set only if it lands in S2 again, not in S1.
    "an object of S2 becomes a member and falls back": (
        {"s": (0, 0), "x": (5, 1), "z": (2, 2)},
        [("x", (-1, 9)), ("x", (6, 6)), ("s", None)],
    ),
    # Line 6 of Algorithm 4 drops x from S2 because z dominates it, but leaves it in D(s).
    "an object dropped from S2 leaves its dominance set": (
        {"s": (0, 0), "x": (5, 5)},
        [("z", (2, 2)), ("s", None)],
    ),
    # Lines 11-12 of Algorithm 4 add r to S2 in place of z, but to no dominance set.
    "a substitute joins a dominance set": (
        {"s": (0, 0), "z": (1, 1), "r": (2, 2)},
        [("z", None), ("s", None)],
    ),
}


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_where_the_paper_to_the_letter_goes_astray(name: str) -> None:
    points, steps = COUNTEREXAMPLES[name]
    printed, live = PrintedEsc(points), skyline(2)
    live.apply(list(points), list(points.values()))
    for step in steps:
        printed.update(*step)
    take(live, steps)
    truth = naive.members(printed.points)
    assert set(live.members()) == truth
    assert printed.first != truth


def test_line_10_leaves_objects_in_the_second_skyline_that_others_there_dominate() -> None:
    points, steps = COUNTEREXAMPLES["two candidates of which one dominates the other"]
    printed = PrintedEsc(points)
    printed.update(*steps[0])
    assert printed.second == {"a", "q"}
    live = skyline(2)
    live.apply(list(points), list(points.values()))
    take(live, steps[:1])
    (group,) = engine(live)._groups.values()
    assert len(group._second) == 1


def test_dominance_is_weak_where_the_paper_asks_for_less_in_every_dimension() -> None:
    live = skyline(2)
    live.apply(["a", "b", "c"], [[0, 5], [0, 6], [0, 5]])
    assert set(live.members()) == {"a", "c"}
    take(live, [("a", None), ("c", None)])
    assert set(live.members()) == {"b"}


def test_the_answer_is_there_before_the_second_skyline_is_touched() -> None:
    live = skyline(2)
    live.apply([1, 2, 3, 4], [[0, 0], [1, 2], [2, 1], [5, 5]])
    esc = engine(live)
    (group,) = esc._groups.values()
    seen: list[tuple[list[int], int, int]] = []
    esc.answered = lambda: seen.append((sorted(group.members()), len(group), len(group._second)))
    slots = live.slots([2, 3, 4]).tolist()
    live.apply([1], [[0, 0]], deleted=[True])
    assert seen == [(sorted(slots[:2]), 4, 2)]
    assert (len(group), len(group._second)) == (3, 1)


def test_an_update_first_finishes_the_one_before() -> None:
    esc = Esc(2)
    esc.objects.reserve(8, 1)
    for slot, point in enumerate([[3.0, 3.0], [1.0, 4.0], [4.0, 1.0], [2.0, 2.0]]):
        esc.objects.points[slot] = point
        esc.insert(0, slot)
    assert [list(slots) for slots in esc.remove(0, 3)] == [[0], [3]]
    assert [list(slots) for slots in esc.remove(0, 0)] == [[], [0]]
    esc.settle()
    esc._groups[0]._check()
    assert sorted(esc._groups[0].members()) == [1, 2]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_both_skylines_and_all_dominance_sets_hold_after_every_update(data: st.DataObject) -> None:
    d = data.draw(st.integers(1, 4))
    point = st.tuples(*[coordinates] * d)
    steps = data.draw(st.lists(st.tuples(st.sampled_from("abcdefghijkl"), st.none() | point), max_size=30))
    live, points = skyline(d, capacity=5), {}
    for key, value in steps:
        take(live, [(key, value)])
        points.pop(key, None)
        if value is not None:
            points[key] = value
        assert set(live.members()) == naive.members(points)


@pytest.mark.parametrize(("dimensions", "capacity", "fill"), [(2, 20, 0.4), (3, 5, 0.4), (5, 93, 0.7)])
def test_random_walks_from_a_packed_start_keep_everything_in_order(dimensions: int, capacity: int, fill: float) -> None:
    rng = np.random.default_rng(dimensions)
    points = rng.normal(500, 150, (400, dimensions)).round(0)
    live = skyline(dimensions, capacity=capacity, fill=fill)
    live.apply(np.arange(400), points)
    live = Skyline.load(live.dump())
    live._check()
    for _ in range(8):
        rows = rng.integers(0, 400, 40)
        points[rows] += rng.normal(0, 80, (40, dimensions)).round(0)
        live.apply(rows, points[rows])
        live._check()
    assert list(live.members()) == naive.skyline(points.tolist())


@pytest.mark.parametrize(
    "options",
    [{"capacity": 3}, {"capacity": 2.5}, {"fill": 0.0}, {"fill": 1.0}, {"capacity": 5, "fill": 0.3}, {"pages": 4}],
)
def test_options_that_make_no_tree_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        skyline(2, **options)
