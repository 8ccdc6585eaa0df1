"""What has no meaning is refused with a message that names it, and a refused batch has changed nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyline import InvalidInput, Skyline, SkylineWindow
from tests.live.conftest import Make

P = [[1.0, 2.0]]
BATCHES: dict[str, tuple[tuple[Any, Any], dict[str, Any], str]] = {
    "too few numbers": (([5], [[1.0]]), {}, r"points must have shape \(n, 2\), got \(1, 1\)"),
    "too many numbers": (([5], [[1.0, 2.0, 3.0]]), {}, r"got \(1, 3\)"),
    "a flat point": (([5], [1.0, 2.0]), {}, r"got \(2,\)"),
    "a cube": (([5], np.zeros((1, 2, 1))), {}, r"got \(1, 2, 1\)"),
    "ragged rows": (([5, 6], [[1.0, 2.0], [3.0]]), {}, "points must be numbers"),
    "ragged rows beside a deleted one": (([5, 6], [[1.0, 2.0], [3.0]]), {"deleted": [True, False]}, "must be numbers"),
    "fewer points than keys": (([5, 6], P), {}, "1 points given for 2 keys"),
    "NaN": (([5, 6], [[1.0, 2.0], [1.0, np.nan]]), {}, "row 1: d1 is NaN"),
    "a missing number": (([5], [[None, 1.0]]), {}, "row 0: d0 is NaN"),
    "text": (([5], [["cheap", 1.0]]), {}, "points must be numbers"),
    "text that looks like numbers": (([5], [["1", "2"]]), {}, "points must be numbers"),
    "text among objects": (([5], np.array([["1", 2.0]], object)), {}, "points must be numbers"),
    "text beside a deleted row": (([5, 6], [["x", 1], [2, 2]]), {"deleted": [False, True]}, "points must be numbers"),
    "dates": (([5], np.array([["2026-01-01"] * 2], "M8[D]")), {}, "points must be numbers"),
    "complex numbers": (([5], [[1j, 2.0]]), {}, "points must be numbers"),
    "a number beyond float64": (([5], [[10**400, 2.0]]), {}, "points must be numbers"),
    "no keys at all": ((None, P), {}, "keys must be a sequence"),
    "one key that is no sequence": ((5, P), {}, "keys must be a sequence"),
    "text for a sequence of keys": (("a", P), {}, "keys must be a sequence"),
    "a table of keys": ((np.ones((1, 1), int), P), {}, "keys must be a sequence"),
    "a key with a fraction": (([1.5], P), {}, "keys must be 64-bit integers"),
    "a key of another kind": ((["a"], P), {}, "keys must be 64-bit integers"),
    "keys of two kinds": (([1, "a"], P * 2), {}, "keys must be 64-bit integers"),
    "a key beyond 64 bits": (([2**70], P), {}, "keys must be 64-bit integers"),
    "an unsigned key beyond 64 bits": ((np.array([2**63], np.uint64), P), {}, "keys must be 64-bit integers"),
    "a truth value as key": (([True], P), {}, "keys must be 64-bit integers"),
    "a truth value among keys": (([5, True], P * 2), {}, "keys must be 64-bit integers"),
    "a time before the clock": (([5], P), {"at": 9}, "row 0 is at 9, but the clock shows 10"),
    "times that descend": (([5, 6], P * 2), {"at": [12, 11]}, "row 1 is at 11, the row before at 12"),
    "a time with a fraction": (([5], P), {"at": 12.5}, "at must be integers"),
    "a time beyond 64 bits": (([5], P), {"at": np.array([2**63], np.uint64)}, "at must fit 64 bits"),
    "more times than keys": (([5], P), {"at": [12, 13]}, "at must have one value per key"),
    "an end that is missing": (([5], P), {"valid_until": [None]}, "valid_until must be integers"),
    "a start that is text": (([5], P), {"valid_from": ["now"]}, "valid_from must be integers"),
    "flags that are numbers": (([5], P), {"deleted": [1]}, "deleted must be 1 booleans"),
    "one flag for all": (([5], P), {"touched": True}, "touched must be 1 booleans"),
    "more groups than keys": (([5], P), {"groups": ["a", "b"]}, "2 groups given for 1 keys"),
    "text for a sequence of groups": (([5], P), {"groups": "a"}, "groups must be a sequence"),
    "a group that is a list": (([5], P), {"groups": [["a"]]}, r"a group must be .* got \['a'\]"),
    "a group that is nothing like itself": (([5], P), {"groups": [float("nan")]}, "a group must be"),
    "a group with a list in it": (([5], P), {"groups": [("a", [])]}, "a group must be"),
}


def assert_same_state(live: Skyline, before: dict[str, Any]) -> None:
    after = live.dump()
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert np.array_equal(value, after[name]), name


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_that_has_no_meaning_is_refused_and_changes_nothing(make: Make, name: str) -> None:
    arguments, options, message = BATCHES[name]
    live = make(["min", "max"])
    live.apply([1, 2, 3], [[0, 9], [5, 5], [7, 7]], valid_until=[50, 60, 70], groups=["x", "x", "y"], at=10)
    before = live.dump()
    with pytest.raises(InvalidInput, match=message):
        live.apply(*arguments, **options)
    assert_same_state(live, before)
    live._check()


def test_a_refused_first_batch_leaves_the_kind_of_keys_open(make: Make) -> None:
    live = make(["min"])
    with pytest.raises(InvalidInput):
        live.apply(["a"], [[np.nan]])
    live.apply([7], [[1]])
    assert live.members() == {7: (1.0,)}


@pytest.mark.parametrize("keys", [[1.5], [None], [True], [("a",)]])
def test_keys_are_integers_text_or_bytes_from_the_first(keys: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="keys must be int64, str or bytes"):
        Skyline({"a": "min"}).apply(keys, [[1]])


@pytest.mark.parametrize(
    ("first", "odd", "message"),
    [
        ("a", 1, "keys must be str like the first ones, got 1"),
        ("a", b"a", "keys must be str like the first ones, got b'a'"),
        (b"a", "a", "keys must be bytes like the first ones, got 'a'"),
        ("a", None, "keys must be str like the first ones, got None"),
        ("a", "\ud800", "a key is not valid text"),
        (b"a", memoryview(np.arange(2)), "keys must be bytes like the first ones"),
        (b"a", np.arange(2), "keys must be bytes like the first ones"),
    ],
)
def test_text_and_bytes_do_not_mix(first: Any, odd: Any, message: str) -> None:
    live = Skyline({"a": "min"})
    live.apply([first], [[1]])
    before = live.dump()
    for keys in ([odd], [first, odd]):
        with pytest.raises(InvalidInput, match=message):
            live.apply(keys, [[0]] * len(keys))
    with pytest.raises(InvalidInput, match=message):
        live.explain(odd)
    assert_same_state(live, before)


def test_an_empty_batch_is_no_mistake(make: Make) -> None:
    for keys in ([], [1], ["a"], [b"a"]):
        live = make(["min"])
        live.apply(keys, [[1]] * len(keys))
        assert len(live.apply([], [])) == 0
        assert len(live.apply(np.zeros(0, np.int64), np.zeros((0, 1)), at=9)) == 0
        assert len(live) == len(keys)
        assert live.slots([]).tolist() == []


@pytest.mark.parametrize("known", [[], [1], ["a"]])
def test_an_empty_batch_is_held_to_the_same_rules(make: Make, known: list[Any]) -> None:
    live = make(["min"])
    live.apply(known, [[1]] * len(known))
    before = live.dump()
    for odd in ({"points": [[1]]}, {"at": "noon"}, {"deleted": [True]}, {"groups": ["x"]}):
        with pytest.raises(InvalidInput):
            live.apply(**{"keys": [], "points": [], **odd})
    live.apply([], [], at=99)
    assert_same_state(live, before)


@pytest.mark.parametrize("at", [9, 10.5, None, "noon", True, 2**63])
def test_the_clock_is_advanced_by_integers_and_never_back(make: Make, at: Any) -> None:
    live = make(["min"])
    live.apply(["a"], [[1]], valid_until=[20], at=10)
    before = live.dump()
    with pytest.raises(InvalidInput):
        live.advance(at)
    assert_same_state(live, before)


@pytest.mark.parametrize(
    ("dimensions", "message"),
    [
        ({}, "1 to 16 dimensions, got 0"),
        ({f"d{i}": "min" for i in range(17)}, "1 to 16 dimensions, got 17"),
        ({"a": "up"}, "'a': direction must be \"min\" or \"max\", got 'up'"),
        ({"a": ["min"]}, "'a': direction must be"),
        ({"": "min"}, "name must be a non-empty string"),
        (["a"], "dimensions must map names"),
    ],
)
def test_dimensions_that_make_no_view_are_refused(dimensions: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Skyline(dimensions)


def test_engines_and_options_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InvalidInput, match="engine must be one of forest, esc, lookout, recompute, got 'btree'"):
        Skyline({"a": "min"}, engine="btree")
    with pytest.raises(InvalidInput, match=r"engine 'forest'.*fanout"):
        Skyline({"a": "min"}, fanout=3)


def test_options_given_to_load_replace_those_of_the_dump() -> None:
    state = Skyline({"a": "min"}, engine="lookout", capacity=10).dump()
    assert Skyline.load(state, index="rtree")._options == {"capacity": 10, "index": "rtree"}
    assert Skyline.load(state, engine="lookout", index="rtree")._options == {"index": "rtree"}
    with pytest.raises(InvalidInput, match=r"engine 'lookout'.*fanout"):
        Skyline.load(state, fanout=3)


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(InvalidInput, match="state has version 99"):
        Skyline.load({**Skyline({"a": "min"}).dump(), "version": 99})


DAMAGES: dict[str, tuple[dict[str, Any], str]] = {
    "no keys at all": ({"keys": None}, "no 'keys'"),
    "no intervals": ({"interval": None}, "no 'interval'"),
    "fewer points": ({"points": np.zeros((2, 2))}, "points of shape"),
    "points of more dimensions": ({"points": np.zeros((4, 3))}, "points of shape"),
    "points that are numbers no more": ({"points": np.full((4, 2), np.nan)}, "a point that is not a number"),
    "points that are text": ({"points": np.full((4, 2), "x")}, "points of type"),
    "a status that there is not": ({"status": np.array([3, 3, 9, 0], np.int8)}, "a status that there is not"),
    "an object without a slot": ({"status": np.array([3, 3, 3, 3], np.int8)}, "free slots"),
    "a free slot far away": ({"free_slots": np.array([10**9])}, "free slots"),
    "a free slot twice": ({"free_slots": np.array([3, 3])}, "free slots"),
    "a group far away": ({"group": np.array([1, 10**6, 1, 0], np.int32)}, "a group that there is not"),
    "a group below all": ({"group": np.array([1, -1, 1, 0], np.int32)}, "a group that there is not"),
    "a group of nobody": ({"groups": np.frombuffer(b"[[null, null], [1]]", np.uint8)}, "a group without a label"),
    "a free group far away": ({"groups": np.frombuffer(b'[[null, "x"], [9]]', np.uint8)}, "the state is damaged"),
    "labels that are no list": ({"groups": np.frombuffer(b"{}", np.uint8)}, "the state is damaged"),
    "keys of a kind that there is not": ({"kind": "float"}, "keys of kind 'float'"),
    "keys elsewhere": ({"key_starts": np.array([0, 10**6, 0, 0])}, "a key that lies outside"),
    "keys longer than all of them": ({"key_lengths": np.array([1, 2**31 - 1, 1, 0], np.int32)}, "outside"),
    "keys of less than nothing": ({"key_lengths": np.array([1, -1, 1, 0], np.int32)}, "outside"),
    "more slots than there are": ({"slots": 10**6}, "of shape"),
    "dimensions that are none": ({"dimensions": "["}, "the state is damaged"),
    "options that are none": ({"options": "7"}, "options that are no table"),
    "a clock that is none": ({"clock": "noon"}, "the state is damaged"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_state_is_refused_before_anything_is_read_out_of_it(make: Make, name: str) -> None:
    live = make(["min", "max"])
    live.apply(["a", "b", "c", "d"], [[0, 9], [1, 1], [2, 10], [3, 3]], groups=["x"] * 4, at=10)
    live.apply(["d"], [[0, 0]], deleted=[True])
    damage, message = DAMAGES[name]
    state = {**live.dump(), **damage}
    with pytest.raises(InvalidInput, match=message):
        Skyline.load({key: value for key, value in state.items() if value is not None})


@pytest.mark.parametrize("statuses", [[3, 3, 3], [2, 3, 2], [3, 2, 2]])
def test_a_state_that_errs_about_who_is_a_member_is_refused(statuses: list[int]) -> None:
    """The truth is that a and b are, and c is not: it is no root's child, or dominates one, in the others."""
    live = Skyline({"x": "min", "y": "min"})
    live.apply(["a", "b", "c"], [[0, 1], [1, 0], [1, 2]])
    with pytest.raises(InvalidInput, match="wrongly said to be, or not to be, a member"):
        Skyline.load({**live.dump(), "status": np.array(statuses, np.int8)})


def test_the_state_of_something_else_is_refused() -> None:
    window = SkylineWindow({"a": "min"}, size=5)
    for state in (window.dump(), {}, {"version": 1}):
        with pytest.raises(InvalidInput, match=r"state has version None|not the state of a skyline"):
            Skyline.load(state)


def test_a_state_survives_numpys_own_format(make: Make, tmp_path: Path) -> None:
    live = make(["min"])
    live.apply(["a", "é", ""], [[1], [1], [2]], groups=["x", ("y", 1), "x"], valid_from=[0, 50, 0], at=10)
    np.savez(tmp_path / "state.npz", **live.dump())
    with np.load(tmp_path / "state.npz") as state:
        copy = Skyline.load(dict(state))
    assert list(copy.advance(60)) == list(live.advance(60))
    assert copy.members() == live.members()
