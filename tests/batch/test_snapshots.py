"""SnapshotSkyline gives the skyline by the definition after every snapshot, whatever changes and however often."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.batch.snapshots import SnapshotSkyline
from skyline.errors import InvalidInput
from tests import naive

INFINITY = float("inf")
TIED_VALUES = st.sampled_from([-INFINITY, -1.0, -0.0, 0.0, 1.0, 2.0, INFINITY])


@st.composite
def histories(draw):
    """Directions, the points of snapshot 0, and the rows and points of the snapshots that follow."""
    dimensions = draw(st.integers(1, 8))
    count = draw(st.integers(1, 10))
    values = draw(st.sampled_from([TIED_VALUES, st.floats(allow_nan=False)]))
    point = st.lists(values, min_size=dimensions, max_size=dimensions)
    directions = draw(st.lists(st.sampled_from(["min", "max"]), min_size=dimensions, max_size=dimensions))
    first = draw(st.lists(point, min_size=count, max_size=count))
    snapshot = st.lists(st.tuples(st.integers(0, count - 1), point), max_size=count)
    return directions, first, draw(st.lists(snapshot, min_size=1, max_size=12))


def by_definition(points, directions) -> list[int]:
    signs = [1.0 if direction == "min" else -1.0 for direction in directions]
    return naive.skyline([[sign * value for sign, value in zip(signs, point, strict=True)] for point in points])


@given(history=histories(), cfp=st.sampled_from([1, 2, 3, 50]))
@settings(deadline=None, max_examples=300)
def test_every_snapshot_has_the_skyline_of_the_definition(history, cfp):
    directions, first, snapshots = history
    current = [list(point) for point in first]
    view = SnapshotSkyline(current, directions, cfp)
    assert view.members().tolist() == by_definition(current, directions)
    view._check()
    for updates in snapshots:
        for row, point in updates:
            current[row] = point
        members = view.apply([row for row, _ in updates], [point for _, point in updates])
        assert members.tolist() == by_definition(current, directions)
        assert members.dtype == np.int64
        view._check()
    np.testing.assert_array_equal(view.points(), np.array(current))


def follow(view: SnapshotSkyline, current: np.ndarray, draws, snapshots: int, every: int) -> None:
    """Applies `snapshots` draws of (rows, points), and compares with the definition now and then."""
    for snapshot in range(1, snapshots + 1):
        rows, points = draws()
        current[rows] = points
        members = view.apply(rows, points)
        if snapshot % every == 0:
            assert members.tolist() == naive.skyline(current.tolist())
            view._check()


@pytest.mark.parametrize("dimensions", range(1, 9))
@pytest.mark.parametrize("cfp", [1, 4])
def test_random_walks(dimensions, cfp):
    """The paper's workload: each value takes a small step with some probability. Members stay members for long."""
    random = np.random.default_rng(dimensions)
    current = random.random((60, dimensions)) * 10

    def walk():
        stepping = random.random(current.shape) < 0.2
        rows = np.flatnonzero(stepping.any(axis=1))
        return rows, (current + stepping * random.normal(0, 0.5, current.shape))[rows]

    follow(SnapshotSkyline(current, cfp=cfp), current, walk, snapshots=120, every=4)


@pytest.mark.parametrize("dimensions", range(1, 9))
def test_jumps_among_ties(dimensions):
    """Objects land anywhere on a coarse grid: equal points, equal values, and members that leave all they dominate."""
    random = np.random.default_rng(dimensions)
    grid = np.array([-INFINITY, -1.0, 0.0, 0.5, 1.0, INFINITY])
    current = random.choice(grid, (50, dimensions))

    def jump():
        rows = random.integers(0, len(current), random.integers(0, 30))
        _, last = np.unique(rows[::-1], return_index=True)
        rows = rows[::-1][last]
        return rows, random.choice(grid, (len(rows), dimensions))

    follow(SnapshotSkyline(current, cfp=3), current, jump, snapshots=120, every=4)


def test_skylines_of_several_blocks():
    """Candidates are compared many at a time; hundreds of members do not fit into one block."""
    random = np.random.default_rng(7)
    current = random.random((500, 8))

    def walk():
        rows = np.flatnonzero(random.random(len(current)) < 0.3)
        return rows, current[rows] + random.normal(0, 0.1, (len(rows), 8))

    view = SnapshotSkyline(current, cfp=2)
    assert len(view.members()) > 256
    follow(view, current, walk, snapshots=40, every=10)


def test_everything_hangs_below_one_object_that_leaves():
    """The worst single update: all objects lose what dominated them at once."""
    random = np.random.default_rng(3)
    current = random.random((200, 3))
    current[0] = -1.0
    view = SnapshotSkyline(current)
    assert view.members().tolist() == [0]
    current[0] = 2.0
    assert view.apply([0], [current[0]]).tolist() == naive.skyline(current.tolist())
    view._check()
    current[0] = -1.0
    assert view.apply([0], [current[0]]).tolist() == [0]
    view._check()


def test_equal_points_are_all_members():
    view = SnapshotSkyline([[1.0, 1.0], [2.0, 2.0], [-0.0, 3.0]])
    assert view.apply([1], [[1.0, 1.0]]).tolist() == [0, 1, 2]
    assert view.apply([0, 1], [[0.0, 3.0], [-0.0, 3.0]]).tolist() == [0, 1, 2]


def test_a_row_named_twice_has_the_later_value():
    view = SnapshotSkyline([[1.0], [2.0]])
    assert view.apply([1, 1, 0, 0], [[0.0], [3.0], [9.0], [4.0]]).tolist() == [1]
    assert view.points().tolist() == [[4.0], [3.0]]


def test_no_rows_and_no_objects():
    empty = SnapshotSkyline(np.empty((0, 3)))
    assert empty.members().tolist() == []
    assert empty.apply([], []).tolist() == []
    assert len(empty) == 0
    view = SnapshotSkyline([[1.0, 2.0]])
    assert view.apply([], []).tolist() == [0]
    assert view.apply(np.array([], dtype=np.int32), np.empty((0, 2))).tolist() == [0]


@pytest.mark.parametrize("rows_as", [list, np.array, lambda rows: np.array(rows, dtype=np.uint8)])
@pytest.mark.parametrize(
    "points_as",
    [list, np.array, np.asfortranarray, lambda points: np.array(points, dtype=np.float32), lambda p: np.array(p)[:, :]],
)
def test_whatever_numbers_come_in_they_mean_the_same(rows_as, points_as):
    """Plain int64 and float64 arrays go a shorter way than everything else."""
    points = [[1.0, 5.0], [2.0, 7.0], [3.0, 3.0]]
    view = SnapshotSkyline(points_as(points), ["min", "max"])
    assert view.members().tolist() == [0, 1]
    assert view.apply(rows_as([2, 0]), points_as([[-0.0, 7.0], [np.inf, 9.0]])).tolist() == [0, 2]
    assert view.points().tolist() == [[np.inf, 9.0], [2.0, 7.0], [0.0, 7.0]]
    assert not np.signbit(view.points()[2, 0])
    view._check()


def test_arrays_that_may_not_be_written_to_are_read():
    rows, points = np.array([1]), np.array([[0.5]])
    rows.flags.writeable = points.flags.writeable = False
    assert SnapshotSkyline([[1.0], [2.0]]).apply(rows, points).tolist() == [1]


def test_directions_are_undone_on_the_way_out():
    view = SnapshotSkyline([[1, 5], [2, 7]], ["min", "max"])
    assert view.apply([0], [[3, 6]]).tolist() == [1]
    assert view.points().tolist() == [[3.0, 6.0], [2.0, 7.0]]


def test_what_the_caller_holds_is_not_the_state():
    points = np.array([[1.0], [2.0]])
    view = SnapshotSkyline(points)
    points[:] = 0.0
    view.members()[:] = 9
    view.points()[:] = 9.0
    assert view.members().tolist() == [0]
    assert view.points().tolist() == [[1.0], [2.0]]


def test_the_three_phases_are_apply():
    random = np.random.default_rng(5)
    points = random.random((80, 3))
    whole, phased = SnapshotSkyline(points, cfp=2), SnapshotSkyline(points, cfp=2)
    for _ in range(30):
        rows = random.permutation(80)[:20]
        values = random.random((20, 3))
        members = whole.apply(rows, values)
        phased.prepare(rows[:7], values[:7])
        phased.prepare(rows[7:], values[7:])
        assert phased.evaluate().tolist() == members.tolist()
        phased.finish()
        assert phased.members().tolist() == members.tolist()
        phased._check()


def test_phases_out_of_turn_are_refused():
    view = SnapshotSkyline([[1.0], [2.0]])
    view.finish()
    with pytest.raises(InvalidInput, match=r"finish\(\) belongs after evaluate\(\), once"):
        view.finish()
    view.prepare([0], [[3.0]])
    with pytest.raises(InvalidInput, match=r"belongs after evaluate"):
        view.finish()
    assert view.evaluate().tolist() == [1]


@pytest.mark.parametrize(
    ("rows", "points", "message"),
    [
        ([0], [[float("nan"), 1.0]], "row 0: d0 is NaN"),
        ([0], [[1.0]], r"points must have shape \(n, 2\), got \(1, 1\)"),
        ([0], [["cheap", 1.0]], "points must be numbers"),
        ([0, 3], [[1, 1], [1, 1]], "row 3 does not exist: rows are 0 to 2"),
        ([0, -1], [[1, 1], [1, 1]], "row -1 does not exist"),
        ([0, 1], [[1, 1]], "2 rows given for 1 points"),
        ([0.0], [[1, 1]], "rows must be a sequence of integers, got float64"),
        ([True], [[1, 1]], "rows must be a sequence of integers, got bool"),
        ([[0]], [[1, 1]], r"rows must be a sequence of integers, got int64 of shape \(1, 1\)"),
    ],
)
@pytest.mark.parametrize("as_arrays", [False, True])
def test_bad_updates_change_nothing(rows, points, message, as_arrays):
    view = SnapshotSkyline([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])
    if as_arrays:
        rows, points = np.array(rows, ndmin=1), np.array(points)
    with pytest.raises(InvalidInput, match=message):
        view.apply(rows, points)
    assert view.points().tolist() == [[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]]
    assert view.members().tolist() == [0, 1]
    assert view.candidates().tolist() == [0, 1]
    view._check()


def test_ragged_rows_are_refused():
    with pytest.raises(InvalidInput, match="rows must be a sequence of integers"):
        SnapshotSkyline([[1.0]]).apply([[0], [1, 2]], [[1.0], [1.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0],), r"points must have shape \(n, d\), got \(2,\)"),
        (([[1.0], [2.0, 3.0]],), "points must be numbers"),
        (([[1.0, float("nan")]],), "row 0: d1 is NaN"),
        ((np.empty((3, 0)),), "1 to 16 dimensions, got 0"),
        ((np.empty((3, 17)),), "1 to 16 dimensions, got 17"),
        (([[1.0, 2.0]], ["min"]), "1 directions given for points of 2 dimensions"),
        (([[1.0]], ["up"]), "direction must be"),
        (([[1.0]], None, 0), "cfp must be an integer of at least 1, got 0"),
        (([[1.0]], None, True), "cfp must be an integer of at least 1, got True"),
        (([[1.0]], None, 2.5), r"cfp must be an integer of at least 1, got 2\.5"),
    ],
)
def test_bad_beginnings_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        SnapshotSkyline(*arguments)
