"""What every engine does, example by example and log by log, against the model."""

from __future__ import annotations

import numpy as np
import pytest

from skyline import NEVER, Skyline
from skyline.live import Changes
from skyline.live.changes import OPS, REASONS
from skyline.live.events import EventEngine
from skyline.live.forest import DominanceForest
from tests.live.conftest import Make
from tests.live.model import Model
from tests.live.workload import apply_rows, expected_changes, random_log

KINDS = [int, str, bytes]


def brief(changes: Changes) -> list[tuple[str, object, str, object]]:
    return [(change.op, change.key, change.reason, change.by) for change in changes]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_random_logs_give_the_models_changes_and_members(make: Make, kind: type, seed: int) -> None:
    log = random_log(seed, 150, kind=kind)
    live, model = make(log.directions), Model(log.directions)
    for start in range(0, len(log.rows), 10):
        rows = log.rows[start : start + 10]
        assert apply_rows(live, rows) == expected_changes(model, rows)
        assert live.members() == {key: tuple(x + 0.0 for x in r.point) for key, r in model.members().items()}
        assert len(live) == len(live.members())
        assert live.objects == len(model.live())
        assert live.waiting == len(model.records) - len(model.live())
        assert live.clock == model.clock
        live._check()
    end = log.rows[-1].at + 100
    assert list(live.advance(end)) == model.advance(end)
    live._check()


@pytest.mark.parametrize("seed", range(6))
def test_cutting_a_log_into_batches_never_shows(make: Make, seed: int) -> None:
    log = random_log(100 + seed, 120)
    rng = np.random.default_rng(seed)
    whole = [change._replace(row=-2) for change in apply_rows(make(log.directions), log.rows)]
    for size in (1, 7, 60):
        live, cut = make(log.directions), []
        for start in range(0, len(log.rows), size):
            if rng.random() < 0.3:
                live = Skyline.load(live.dump())
            cut += [change._replace(row=-2) for change in apply_rows(live, log.rows[start : start + size])]
        assert cut == whole


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_dump_and_load_anywhere_changes_nothing(make: Make, kind: type, seed: int) -> None:
    log = random_log(200 + seed, 90, kind=kind)
    live = make(log.directions)
    for cut in range(0, 90, 9):
        copy = Skyline.load(live.dump())
        copy._check()
        assert copy.members() == live.members()
        rows = log.rows[cut : cut + 9]
        assert apply_rows(live, rows) == apply_rows(copy, rows)
        assert np.array_equal(live.slots([row.key for row in rows]), copy.slots([row.key for row in rows]))
        live = copy


@pytest.mark.parametrize("seed", range(3))
def test_replayed_changes_are_the_members_and_sizes_count_them(make: Make, seed: int) -> None:
    log = random_log(300 + seed, 200)
    live, members = make(log.directions), {}
    for start in range(0, 200, 20):
        rows = log.rows[start : start + 20]
        changes = live.apply(
            [row.key for row in rows],
            [row.point for row in rows],
            deleted=[row.deleted for row in rows],
            valid_until=[row.valid_until for row in rows],
            at=[row.at for row in rows],
        )
        for change, size in zip(changes, changes.sizes.tolist(), strict=True):
            if change.op == "leave":
                assert members.pop(change.key) == change.point
            else:
                assert (change.key in members) == (change.op == "move")
                members[change.key] = change.point
            assert size == len(members)
        assert members == live.members()


def test_columns_say_the_same_as_the_changes(make: Make) -> None:
    live = make(["min", "max"])
    live.apply(["a", "b"], [[5, 5], [6, 6]], groups=["x", "y"])
    changes = live.apply(["c", "d", "b"], [[4, 6], [1, 9], [0, 0]], groups=["x", "y", "x"], at=7)
    for i, change in enumerate(changes):
        assert change.op == OPS[changes.ops[i]]
        assert change.reason == REASONS[changes.reasons[i]]
        assert change.key == changes.keys[i]
        assert change.by == changes.by[i]
        assert change.point == tuple(changes.points[i])
        assert (change.row, change.at) == (changes.rows[i], changes.at[i])
        assert live.slots([change.key])[0] == changes.slots[i]
        assert live.slots([change.by])[0] == changes.by_slots[i]
    assert changes.groups == ["x", "x", "y", "y", "x"]
    assert np.array_equal(changes.row_slots, live.slots(["c", "d", "b"]))
    assert len(changes) == len(changes.ops) == 5


def test_equal_points_are_members_together(make: Make) -> None:
    live = make(["min", "min"])
    assert brief(live.apply([3, 1, 2], [[1, 1], [1, 1], [0.0, 2]])) == [
        ("enter", 3, "inserted", 3),
        ("enter", 1, "inserted", 1),
        ("enter", 2, "inserted", 2),
    ]
    assert brief(live.apply([9], [[-0.0, 1]])) == [
        ("leave", 1, "dominated", 9),
        ("leave", 2, "dominated", 9),
        ("leave", 3, "dominated", 9),
        ("enter", 9, "inserted", 9),
    ]


def test_a_departure_promotes_in_key_order_and_names_the_departed(make: Make) -> None:
    live = make(["min", "min"])
    live.apply(["top", "b", "a", "hidden"], [[0, 0], [1, 2], [2, 1], [3, 3]])
    assert brief(live.apply(["top"], [[9, 9]], deleted=[True])) == [
        ("leave", "top", "deleted", "top"),
        ("enter", "a", "promoted", "top"),
        ("enter", "b", "promoted", "top"),
    ]


def test_a_member_that_moves_behind_another_leaves_as_moved(make: Make) -> None:
    live = make(["min"])
    live.apply(["a", "b"], [[1], [2]])
    assert brief(live.apply(["a"], [[3]])) == [("leave", "a", "moved", "a"), ("enter", "b", "promoted", "a")]
    assert brief(live.apply(["a"], [[0]])) == [("leave", "b", "dominated", "a"), ("enter", "a", "moved", "a")]


def test_an_identical_update_shows_only_if_touched_but_replaces_the_interval(make: Make) -> None:
    live = make(["min"])
    live.apply(["a"], [[1]], at=0)
    assert brief(live.apply(["a"], [[1]], valid_until=[5], at=1)) == []
    assert brief(live.apply(["a"], [[1]], valid_until=[6], touched=[True])) == [("move", "a", "moved", "a")]
    assert brief(live.advance(5)) == []
    assert brief(live.advance(6)) == [("leave", "a", "expired", "a")]


def test_due_events_come_in_order_of_time_then_key_before_the_row(make: Make) -> None:
    live = make(["min"])
    live.apply(["b", "a", "c"], [[1], [2], [3]], valid_until=[5, 5, 4], at=0)
    changes = list(live.apply(["d"], [[9]], at=6))
    assert [(c.op, c.key, c.reason, c.by, c.at) for c in changes] == [
        ("leave", "b", "expired", "b", 5),
        ("enter", "d", "inserted", "d", 6),
    ]


def test_a_waiting_object_enters_when_its_time_comes(make: Make) -> None:
    live = make(["min"])
    assert len(live.apply(["a"], [[1]], valid_from=[10], valid_until=[20], at=0)) == 0
    assert (live.waiting, live.objects) == (1, 0)
    assert [(c.op, c.reason, c.at, c.row) for c in live.advance(15)] == [("enter", "inserted", 10, -1)]
    assert [(c.op, c.reason) for c in live.apply(["a"], [[1]], valid_from=[30], at=16)] == [("leave", "moved")]
    assert [(c.op, c.reason) for c in live.advance(30)] == [("enter", "inserted")]


@pytest.mark.parametrize(("start", "end"), [(0, 10), (0, 3), (30, 30), (30, 20)])
def test_an_interval_that_is_over_or_empty_makes_the_object_absent(make: Make, start: int, end: int) -> None:
    live = make(["min"])
    live.apply(["a"], [[1]], at=10)
    changes = live.apply(["a"], [[1]], valid_from=[start], valid_until=[end])
    assert brief(changes) == [("leave", "a", "expired", "a")]
    assert live.slots(["a"])[0] == -1
    live._check()


def test_groups_have_skylines_of_their_own_and_objects_may_change_group(make: Make) -> None:
    live = make(["min"])
    live.apply(["a", "b", "c"], [[1], [2], [3]], groups=["x", "y", "x"])
    assert set(live.members()) == {"a", "b"}
    assert brief(live.apply(["a"], [[1]], groups=["y"])) == [
        ("leave", "b", "dominated", "a"),
        ("move", "a", "moved", "a"),
        ("enter", "c", "promoted", "a"),
    ]


def test_never_does_not_fall_due(make: Make) -> None:
    live = make(["min"])
    live.apply(["a", "b"], [[1], [0]], valid_until=[NEVER, NEVER], valid_from=[0, NEVER], at=0)
    assert len(live.advance(NEVER)) == 0
    assert list(live.members()) == ["a"]


def test_deleting_the_unknown_does_nothing(make: Make) -> None:
    live = make(["min"])
    live.apply(["a"], [[1]], at=3)
    changes = live.apply(["zz", "zz"], [[np.nan], [1]], deleted=[True, True], at=4)
    assert len(changes) == 0
    assert changes.row_slots.tolist() == [-1, -1]
    assert live.clock == 4
    live._check()


def test_slots_stay_with_their_key_until_freed_and_are_not_reused_within_the_batch(make: Make) -> None:
    live = make(["min"])
    slot = live.apply(["a"], [[1]]).row_slots[0]
    changes = live.apply(["a", "b"], [[1], [2]], deleted=[True, False])
    assert changes.freed.tolist() == [slot]
    assert changes.row_slots[1] != slot
    assert live.slots(["a", "b"]).tolist() == [-1, changes.row_slots[1]]
    assert live.apply(["c"], [[3]]).row_slots.tolist() == [slot]
    assert brief(changes)[0] == ("leave", "a", "deleted", "a")
    back = live.apply(["c", "c"], [[0], [3]], deleted=[True, False])
    assert back.freed.tolist() == []


def test_explain_names_the_dominators_and_the_nearest(make: Make) -> None:
    live = make(["min", "max"])
    live.apply(["a", "b", "c", "x"], [[1, 9], [4, 9.5], [9, 10], [5, 8]], at=0)
    live.apply(["w"], [[0, 0]], valid_from=[9])
    why = live.explain("x")
    assert (why.known, why.live, why.member, why.dominators, why.nearest) == (True, True, False, ("a", "b"), "b")
    assert live.explain("a").member
    assert not live.explain("w").live
    assert live.explain("w").known
    assert not live.explain("nobody").known


def test_explain_measures_distances_beyond_float64_without_complaint(make: Make) -> None:
    far = 1.7e308
    live = make(["min", "min"])
    live.apply(["x", "b", "a", "i"], [[far, far], [-far, far], [-far, far], [-np.inf, np.inf]])
    why = live.explain("x")
    assert (why.dominators, why.nearest) == (("a", "b"), "a")


@pytest.mark.parametrize("seed", range(3))
def test_explain_agrees_with_the_model(make: Make, seed: int) -> None:
    log = random_log(400 + seed, 60)
    live, model = make(log.directions), Model(log.directions)
    apply_rows(live, log.rows)
    expected_changes(model, log.rows)
    for key in {row.key for row in log.rows}:
        why = live.explain(key)
        assert why.known == (key in model.records)
        assert why.live == (key in model.live())
        assert why.member == live.is_member(key) == (key in model.members())
        assert list(why.dominators) == model.dominators(key)
        assert (why.nearest in why.dominators) if why.dominators else (why.nearest is None)


def test_ends_that_are_put_off_again_and_again_leave_nothing_behind(make: Make) -> None:
    live = make(["min"])
    sizes = set()
    for end in range(1000, 4000):
        live.apply(["a", "b"], [[1], [2]], valid_until=end, at=end - 999)
        sizes.add(_entries_due(live))
        assert max(sizes) < 200
    assert [(c.op, c.key) for c in live.advance(3999)] == [("leave", "a"), ("enter", "b"), ("leave", "b")]
    assert _entries_due(live) == 0


def _entries_due(live: Skyline) -> int:
    """How many entries the engine keeps for what falls due, those that count no more included."""
    engine = live._engine
    if isinstance(engine, EventEngine):
        return len(engine._heap)
    assert isinstance(engine, DominanceForest)
    return int(engine._due_size[0])


def test_another_engine_can_take_over_a_dump(make: Make) -> None:
    log = random_log(7, 120)
    live = make(log.directions)
    apply_rows(live, log.rows[:60])
    other = Skyline.load(live.dump(), engine="recompute")
    back = Skyline.load(other.dump(), engine=live.engine)
    back._check()
    assert apply_rows(live, log.rows[60:]) == apply_rows(other, log.rows[60:]) == apply_rows(back, log.rows[60:])
