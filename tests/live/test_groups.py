"""Groups: labels and ids, forests that come and go with their objects, and labels that survive dump and load."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skyline import Skyline
from skyline.live.groups import NO_GROUP, Groups
from tests.live.conftest import Make

LABELS: list[Any] = [None, "", "a", 0, -1, 2**70, 1.5, float("inf"), True, ("a", 1), (), ("a", ("b", None))]


def test_ids_are_small_belong_to_one_label_and_are_used_again() -> None:
    groups = Groups()
    ids, new = groups.assign(["a", "b", None, "a"])
    assert ids.tolist() == [1, 2, NO_GROUP, 1]
    assert new == [1, 2]
    groups.release([1])
    groups._check()
    ids, new = groups.assign(["c", "b", "d"])
    assert ids.tolist() == [1, 2, 3]
    assert new == [1, 3]
    assert groups.take(np.array([3, 1])) == ["d", "c"]
    groups._check()


def test_labels_survive_dump_and_load_as_what_they_were() -> None:
    groups = Groups()
    ids, _ = groups.assign(LABELS)
    groups.release([int(ids[1])])
    loaded = Groups()
    loaded.load(groups.dump())
    loaded._check()
    kept = [label for label in LABELS if label != ""]
    same = loaded.take(loaded.assign(kept)[0])
    assert same == kept
    assert [type(label) for label in same] == [type(label) for label in kept]
    assert loaded.assign(["new"])[0].tolist() == [int(ids[1])]


def test_every_kind_of_label_has_a_skyline_of_its_own(make: Make) -> None:
    live = make(["min"])
    labels = [label for label in LABELS if label is not True]  # equals 1, and 1 equals nothing here
    keys = [f"{i}{better}" for better in "ab" for i in range(len(labels))]
    points = [[1.0]] * len(labels) + [[2.0]] * len(labels)
    changes = live.apply(keys, points, groups=labels * 2)
    assert set(live.members()) == {f"{i}a" for i in range(len(labels))}
    assert changes.groups == labels
    live = Skyline.load(live.dump())
    changes = live.apply([f"{i}a" for i in range(len(labels))], [[0.0]] * len(labels), deleted=[True] * len(labels))
    assert [change.op for change in changes] == ["leave", "enter"] * len(labels)
    assert changes.groups == [label for label in labels for _ in range(2)]
    live._check()


def test_empty_groups_cost_nothing(make: Make) -> None:
    """A thousand groups, fifty at a time: neither labels nor structures of theirs are left."""
    live = make(["min", "min"])
    for start in range(0, 1000, 50):
        live.apply(np.arange(50), np.ones((50, 2)), groups=[f"g{i}" for i in range(start, start + 50)])
    assert len(live._groups) == 51
    assert live._groups.ids <= 101
    live._check()
    live.apply(np.arange(50), np.ones((50, 2)), deleted=np.ones(50, np.bool_))
    assert len(live._groups) == 1
    assert len(live) == live.objects == 0
    live._check()


def test_a_group_named_only_by_rows_that_came_to_nothing_is_forgotten(make: Make) -> None:
    live = make(["min"])
    live.apply(["a"], [[1]], groups=["x"], at=10)
    live.apply(["a", "b"], [[1], [1]], groups=["x", "over"], valid_until=[99, 5])
    live.apply(["zz"], [[1]], deleted=[True], groups=["nobody"])
    assert set(live._groups._ids) == {None, "x"}
    live._check()


def test_a_large_group_and_many_small_ones_share_a_pool() -> None:
    rng = np.random.default_rng(3)
    live = Skyline({"a": "min", "b": "min", "c": "min"})
    points = rng.random((4000, 3))
    points[:, 2] = 2 - points[:, 0] - points[:, 1]  # nobody dominates anybody
    for turn in range(6):
        groups = np.where(rng.random(4000) < 0.5, 0, rng.integers(1, 300, 4000))
        live.apply(np.arange(4000), points, groups=groups)
        assert len(live) == 4000
        live._check()
        gone = rng.random(4000) < (0.3, 0.9, 0.5, 1.0, 0.2, 1.0)[turn]
        live.apply(np.arange(4000), points, deleted=gone, groups=groups)
        assert len(live) == 4000 - gone.sum()
        live._check()


@pytest.mark.parametrize("keys", [["k"], [7], [b"k"]])
def test_a_change_of_group_is_reported_where_it_happened(make: Make, keys: list[Any]) -> None:
    live = make(["min"])
    live.apply(keys, [[1]], groups=["old"])
    changes = live.apply(keys, [[1]], groups=["new"])
    assert [(change.op, change.reason) for change in changes] == [("move", "moved")]
    assert changes.groups == ["new"]
    changes = live.apply(keys, [[1]], groups=["new"], deleted=[True])
    assert changes.groups == ["new"]
