"""The dominance forest itself: its invariants under stress, the index over the roots, fan-out, and what falls due."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from skyline import NEVER, Skyline
from skyline.live.forest import DominanceForest
from skyline.live.objects import DOMINATED, MEMBER
from skyline.live.roots_kernels import CHILD, FAN, PARENT, RING, TOP, USED, find_dominated, find_dominator
from skyline.view import Bools, Floats, Ints


def skyline(dimensions: int) -> Skyline:
    return Skyline({f"d{i}": "min" for i in range(dimensions)})


def engine(live: Skyline) -> DominanceForest:
    assert isinstance(live._engine, DominanceForest)
    return live._engine


def undominated(points: Floats) -> Bools:
    """The definition, in numpy: True where no row dominates this one."""
    return np.array(
        [not ((points <= p).all(axis=1) & (points < p).any(axis=1)).any() for p in points], np.bool_
    ).reshape(len(points))


def independent(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.random((n, d))


def antichain(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Nobody dominates anybody: the sum of whole numbers is the same for all."""
    points = rng.integers(0, 1000, (n, d)).astype(float)
    points[:, -1] = 1000.0 * d - points[:, :-1].sum(axis=1)
    return points


def grid(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Ties, duplicates and equal sums everywhere."""
    return rng.integers(0, 4, (n, d)).astype(float)


def endless(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Infinities of both signs among ordinary numbers."""
    return rng.choice([-np.inf, 0.0, 1.0, 2.0, 3.0, np.inf], (n, d))


def lopsided(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Dimensions of very different size, so that sums round: one dominates another although the sums tie."""
    return np.concatenate([rng.integers(0, 30, (n, 1)) * 1e17, rng.integers(0, 30, (n, d - 1))], axis=1)


Draw = Callable[[np.random.Generator, int, int], Floats]
SHAPES: list[tuple[Draw, int]] = [
    (independent, 1),
    (independent, 2),
    (independent, 5),
    (independent, 8),
    (independent, 16),
    (antichain, 2),
    (antichain, 5),
    (grid, 3),
    (grid, 6),
    (endless, 4),
    (lopsided, 3),
]


@pytest.mark.parametrize(("draw", "dimensions"), SHAPES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_long_stress_keeps_every_invariant_and_the_definition(draw: Draw, dimensions: int) -> None:
    """Inserts, moves, deletions and re-insertions of 400 keys, far and near, in batches from 1 to 300 rows."""
    rng = np.random.default_rng(dimensions)
    live, points, here = skyline(dimensions), draw(rng, 400, dimensions), np.zeros(400, np.bool_)
    for _ in range(30):
        rows = rng.integers(0, 400, int(rng.choice([1, 7, 60, 300])))
        gone = rng.random(len(rows)) < rng.choice([0.05, 0.3, 0.9])
        near = points[rows] + rng.choice([0.0, 1.0, -1.0], (len(rows), dimensions))
        fresh = np.where(rng.random((len(rows), 1)) < 0.5, draw(rng, len(rows), dimensions), near)
        live.apply(rows, fresh, deleted=gone)
        for row, point, left in zip(rows, fresh, gone, strict=True):
            points[row], here[row] = point, not left
        live._check()
        alive = np.flatnonzero(here)
        assert list(live.members()) == alive[undominated(points[alive])].tolist()
        if rng.random() < 0.1:
            live = Skyline.load(live.dump())


def test_changes_are_the_same_whether_the_pool_of_nodes_grows_within_a_batch_or_between() -> None:
    rng = np.random.default_rng(2)
    points = np.concatenate([antichain(rng, 1500, 4), independent(rng, 300, 4) * 100])
    whole, single = skyline(4), skyline(4)
    expected = [change for row in range(1800) for change in single.apply([row], points[row : row + 1])]
    found = list(whole.apply(np.arange(1800), points))
    assert [change._replace(row=0) for change in found] == [change._replace(row=0) for change in expected]
    whole._check()


def test_one_arrival_takes_over_a_whole_skyline_and_its_departure_gives_it_back() -> None:
    rng = np.random.default_rng(4)
    live, points = skyline(3), antichain(rng, 1500, 3)
    live.apply(np.arange(1500), points)
    taken = list(live.apply([9999], [[-1, -1, -1]]))
    assert [(c.op, c.key, c.reason, c.by) for c in taken] == [
        *(("leave", key, "dominated", 9999) for key in range(1500)),
        ("enter", 9999, "inserted", 9999),
    ]
    live._check()
    given = list(live.apply([9999], [[0, 0, 0]], deleted=[True]))
    assert [(c.op, c.key, c.reason, c.by) for c in given] == [
        ("leave", 9999, "deleted", 9999),
        *(("enter", key, "promoted", 9999) for key in range(1500)),
    ]
    live._check()


def test_the_index_grows_from_a_ring_to_a_tree_and_shrinks_back() -> None:
    rng = np.random.default_rng(5)
    live, points = skyline(4), antichain(rng, 900, 4)
    levels = set()
    order = rng.permutation(900)
    for turn in range(2):
        for first in range(0, 900, 150):
            live.apply(order[first : first + 150], points[order[first : first + 150]])
            live._check()
        forest = engine(live)
        assert forest._groups[0, TOP] > 0
        assert forest._groups[0, RING] == 0
        nodes_of_first_turn = int(forest._trees.used[USED])
        levels.add(int(forest._trees.info[forest._groups[0, TOP] - 1, 2]))
        rng.shuffle(order)
        for first in range(0, 900, 150):
            rows = order[first : first + 150]
            live.apply(rows, points[rows], deleted=np.ones(len(rows), np.bool_))
            live._check()
        assert forest._groups[0].tolist() == [0, 0, 0], f"turn {turn}"
    assert min(levels) >= 2
    assert int(engine(live)._trees.used[USED]) <= 2 * nodes_of_first_turn, "free nodes are used again"


def test_a_small_group_needs_no_tree() -> None:
    live = skyline(2)
    for size in (*range(1, 20), *range(18, 0, -1)):
        rows = np.arange(20)
        live.apply(rows, np.stack([rows, -rows], axis=1), deleted=rows >= size)
        live._check()
        assert (engine(live)._groups[0, TOP] > 0) == (size > 8) or 4 < size <= 8


def test_equal_members_by_the_thousand_are_not_searched_one_by_one() -> None:
    """A search for what relates to one of them reads the top of the tree and nothing below."""
    live = skyline(3)
    live.apply(np.arange(3000), np.ones((3000, 3)))
    live._check()
    forest = engine(live)
    table = forest._table()
    for search, more in ((find_dominator, ()), (find_dominated, (np.zeros(3000, np.int32),))):
        stack = np.full(256, -1)
        search(forest._trees, table.groups, 0, table.nodes, table.points, 5, stack, *more)
        assert stack.tolist() == [forest._groups[0, TOP] - 1] + [-1] * 255
    assert [(c.op, c.key) for c in live.apply([3000], [[1, 1, 1]])] == [("enter", 3000)]
    assert len(live.apply([3001], [[1, 2, 1]])) == 0
    assert [c.op for c in live.apply([3002], [[1, 1, 0]])] == ["leave"] * 3001 + ["enter"]
    assert [c.op for c in live.apply([3002], [[2, 2, 2]])] == ["leave"] + ["enter"] * 3001
    live._check()


def test_members_that_share_few_points_come_and_go_as_the_definition_says() -> None:
    rng = np.random.default_rng(10)
    live, points, here = skyline(3), np.zeros((1500, 3)), np.zeros(1500, np.bool_)
    for _ in range(12):
        rows = rng.permutation(1500)[:700]
        fresh = rng.integers(0, 3, (700, 3)).astype(float)
        fresh[:, 2] = 6 - fresh[:, 0] - fresh[:, 1] + (rng.random(700) < 0.1)
        gone = rng.random(700) < 0.3
        live.apply(rows, fresh, deleted=gone)
        points[rows], here[rows] = fresh, ~gone
        live._check()
        alive = np.flatnonzero(here)
        assert list(live.members()) == alive[undominated(points[alive])].tolist()


def fans(live: Skyline) -> Ints:
    nodes = engine(live).objects.nodes
    found: Ints = nodes[nodes[:, 0] >= DOMINATED][:, FAN].astype(np.int64)
    return found


@pytest.mark.parametrize(("draw", "dimensions"), [(independent, 2), (independent, 3), (independent, 5), (grid, 4)])
def test_no_object_collects_all_the_others(draw: Draw, dimensions: int) -> None:
    """60,000 objects below a dozen roots, or below one: a family stays near the size of its own skyline."""
    rng = np.random.default_rng(6)
    live, points = skyline(dimensions), draw(rng, 60_000, dimensions)
    live.apply(np.arange(60_000), points + 1)
    assert fans(live).max() < 4000
    live.apply([-1], np.zeros((1, dimensions)))
    live.apply(np.arange(60_000), points + 2)
    assert len(live) == 1
    assert fans(live).max() < 4000
    copy = Skyline.load(live.dump())
    assert fans(copy).max() < 4000
    changes = copy.apply([-1], np.zeros((1, dimensions)), deleted=[True])
    assert sorted(c.key for c in changes if c.op == "enter") == np.flatnonzero(_quick(points)).tolist()


def _quick(points: Floats) -> Bools:
    """The definition, for many points: only those that some strong ones leave are compared with all."""
    left = np.ones(len(points), np.bool_)
    for strong in points[np.argsort(points.sum(axis=1))[:200]]:
        left &= ~((points >= strong).all(axis=1) & (points > strong).any(axis=1))
    found = np.flatnonzero(left)
    left[found] = undominated(points[found])
    return left


def test_a_chain_is_no_deeper_trouble_than_any_other_shape() -> None:
    """Each dominates the next: inserted best last, deleted best first, so every event concerns the root."""
    live = skyline(2)
    rows = np.arange(1000)
    live.apply(rows[::-1], np.stack([rows, rows], axis=1)[::-1].astype(float))
    live._check()
    for row in range(1000):
        changes = [(c.op, c.key) for c in live.apply([row], [[0, 0]], deleted=[True])]
        assert changes == [("leave", row), ("enter", row + 1)][: 2 if row < 999 else 1]
    assert live.objects == 0


def test_sorting_out_a_family_leaves_strong_children_first() -> None:
    rng = np.random.default_rng(8)
    live = skyline(2)
    live.apply([-1], [[-1, -1]])
    live.apply(np.arange(5000), rng.random((5000, 2)))
    live._check()
    forest = engine(live)
    root = int(live.slots([-1])[0])
    assert forest.objects.nodes[root, PARENT] < 0
    first = int(forest.objects.nodes[root, CHILD])
    assert forest.objects.points[first].sum() < 0.2


def test_due_events_survive_rescheduling_in_any_order() -> None:
    """A thousand objects whose ends are set, changed, taken back and set again; then time passes, step by step."""
    rng = np.random.default_rng(9)
    live, ends = skyline(1), {}
    for _ in range(30):
        rows = rng.integers(0, 1000, 200)
        until = np.where(rng.random(200) < 0.2, NEVER, rng.integers(100, 140, 200))
        gone = rng.random(200) < 0.1
        live.apply(rows, np.zeros((200, 1)), valid_until=until, deleted=gone, at=10)
        for row, end, left in zip(rows.tolist(), until.tolist(), gone.tolist(), strict=True):
            ends.pop(row, None)
            if not left:
                ends[row] = end
        live._check()
    for at in range(100, 141, 5):
        changes = list(live.advance(at))
        over = sorted((end, key) for key, end in ends.items() if at - 5 < end <= at)
        assert [(c.at, c.key, c.op, c.reason) for c in changes] == [(e, k, "leave", "expired") for e, k in over]
        live._check()
    assert set(live.members()) == {key for key, end in ends.items() if end == NEVER}


def test_a_thousand_starts_and_ends_at_one_instant_come_in_key_order() -> None:
    names = [f"{i * 7919 % 1000:03d}" for i in range(1000)]
    live = skyline(1)
    live.apply(names, np.zeros((1000, 1)), valid_from=[50] * 1000, valid_until=[90] * 1000, at=0)
    assert (live.waiting, len(live)) == (1000, 0)
    assert [c.key for c in live.advance(50)] == sorted(names)
    live._check()
    assert [c.key for c in live.advance(90)] == sorted(names)
    assert live.waiting == live.objects == 0
    live._check()


def test_status_columns_tell_members_from_others() -> None:
    live = skyline(2)
    live.apply([1, 2, 3], [[0, 0], [1, 1], [0, 0]])
    status = engine(live).objects.status[live.slots([1, 2, 3])]
    assert status.tolist() == [MEMBER, DOMINATED, MEMBER]
