"""An index that objects enter, leave and move about in answers as if it were built anew."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline import SkylineIndex
from skyline.search import parts, tree
from skyline.search.parts import BUFFER
from tests.search import reference, strategies

DIRECTIONS = ["min", "max"]
POINTS = st.lists(strategies.VALUES, min_size=2, max_size=2)
STEPS = st.lists(
    st.tuples(st.just("insert"), st.lists(st.tuples(st.integers(0, 15), POINTS), max_size=12))
    | st.tuples(st.just("delete"), st.lists(st.integers(0, 17), max_size=6))
    | st.tuples(st.sampled_from(["compact", "maintain", "search"]), st.just([])),
    max_size=12,
)


@settings(deadline=None, max_examples=200)
@given(STEPS, st.booleans(), st.integers(1, 3))
def test_any_course_of_events_leaves_what_a_dict_would(steps, background, k):
    index = SkylineIndex(np.empty((0, 2)), DIRECTIONS, page=64, background=background)
    model: dict[int, list[float]] = {}
    for step, rows in steps:
        if step == "insert":
            index.insert([row[0] for row in rows], [row[1] for row in rows])
            model.update(rows)
        elif step == "delete":
            assert index.delete(rows) == len({row for row in rows if row in model})
            for row in rows:
                model.pop(row, None)
        elif step == "compact":
            index.compact()
        elif step == "maintain":
            index.maintain()
        agree(index, model, k)
    index._parts._check()


def agree(index, model, k):
    ids, points = list(model), np.array(list(model.values())).reshape(-1, 2)
    assert len(index) == len(model)
    assert list(index.skyband(k)) == reference.search(points, DIRECTIONS, ids, k=k)


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("batch", [1, 300, 5000])
def test_long_runs_of_moves_entries_and_departures(background, batch):
    """Buffers fill, trees merge, deaths pile up: every so often all invariants and all answers are checked."""
    rng = np.random.default_rng(batch)
    index = SkylineIndex(rng.random((6000, 3)), page=400, background=background, labels=rng.integers(0, 5, 6000))
    model = {int(row[0]): row[1:] for row in dump(index)}
    rounds = 2500 if batch == 1 else 30
    for turn in range(rounds):
        ids = rng.integers(0, 12_000, batch)
        points, labels = rng.random((batch, 3)), rng.integers(0, 5, batch)
        index.insert(ids, points, labels)
        model.update({int(i): np.append(p, g) for i, p, g in zip(ids, points, labels, strict=True)})
        gone = rng.integers(0, 12_000, batch // 2 + 1)
        index.delete(gone)
        for row in gone.tolist():
            model.pop(row, None)
        if background and turn % 7 == 0:
            index.maintain()
        if turn % (rounds // 10) == 0:
            compare(index, model)
    compare(index, model)


def dump(index):
    """Rows of id, point and label: everything is in a skyband that is deep enough."""
    places = index.skyband(10**6).places()
    return np.column_stack([places[:, 0], index._parts.snapshot.rows(places)])


def compare(index, model):
    index._parts._check()
    ids, rows = np.array(list(model)), np.array(list(model.values()))
    fresh = SkylineIndex(rows[:, :3], ids=ids, labels=rows[:, 3].astype(int))
    assert len(index) == len(model)
    assert list(index.skyband(2)) == list(fresh.skyband(2))
    assert list(index.search(label=3, low=[0.2] * 3)) == list(fresh.search(label=3, low=[0.2] * 3))
    assert index.enumerated() == fresh.enumerated()
    assert index.dominating(5) == fresh.dominating(5)
    grouped, expected = index.grouped(), fresh.grouped()
    assert {label: found.tolist() for label, found in grouped.items()} == {
        label: found.tolist() for label, found in expected.items()
    }


def test_who_asks_for_the_size_during_a_change_gets_that_before_it(monkeypatch):
    index = SkylineIndex(np.random.default_rng(4).random((5000, 2)))
    seen = []

    def build(*arguments):
        seen.append(len(index))
        return tree.build(*arguments)

    monkeypatch.setattr(parts, "build", build)
    index.insert(np.arange(5000, 5500), np.zeros((500, 2)))
    index.insert(np.arange(4000, 6000), np.zeros((2000, 2)))
    assert (set(seen), len(index)) == ({5500}, 6000)


def test_of_an_id_that_comes_twice_in_one_call_the_last_row_counts():
    index = SkylineIndex([[5.0, 5.0]], ids=[1])
    index.insert([1, 2, 1], [[0.0, 0.0], [3.0, 3.0], [4.0, 4.0]])
    assert list(index.skyline()) == [2]
    assert len(index) == 2


def test_deleting_what_is_not_there_is_no_error_and_counts_nothing():
    index = SkylineIndex([[1.0]], ids=[-7])
    assert index.delete([3, 4]) == 0
    assert index.delete([-7, -7]) == 1
    assert index.delete([-7]) == 0
    assert list(index.skyline()) == []


def test_everything_may_leave_and_come_back():
    index = SkylineIndex(np.random.default_rng(1).random((3000, 2)))
    assert index.delete(np.arange(3000)) == 3000
    index._parts._check()
    assert list(index.skyline()) == []
    assert index.enumerated() == []
    assert index.dominating(3) == []
    index.insert([5], [[0.5, 0.5]])
    assert list(index.skyline()) == [5]


def test_small_changes_do_not_rebuild_the_large_tree():
    """Only what changes is rewritten: the large tree stays the same object until merging it pays."""
    index = SkylineIndex(np.random.default_rng(2).random((200_000, 3)))
    large = index._parts._trees[0].tree
    for start in range(0, 20 * BUFFER, BUFFER // 2):
        index.insert(np.arange(start, start + BUFFER // 2), np.random.default_rng(start).random((BUFFER // 2, 3)))
    assert index._parts._trees[0].tree is large
    index._parts._check()


def test_searches_and_maintenance_run_beside_a_writer():
    """Objects come in equal pairs that change in one call: a search that sees half of a change shows one of a pair."""
    rng = np.random.default_rng(9)
    n = 20_000
    index = SkylineIndex(np.tile(rng.random((n, 2)), (2, 1)), background=True)
    done = threading.Event()
    torn: list[set[int]] = []
    searches = 0

    def maintain():
        while not done.is_set():
            index.maintain()

    def read():
        nonlocal searches
        while not done.is_set():
            members = set(index.skyline())
            searches += 1
            if {(member + n) % (2 * n) for member in members} != members:
                torn.append(members)

    threads = [threading.Thread(target=target) for target in (maintain, read)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        moved, gone = rng.choice(n, 200, replace=False), rng.choice(n, 20, replace=False)
        index.insert(np.concatenate([moved, moved + n]), np.tile(rng.random((200, 2)), (2, 1)))
        index.delete(np.concatenate([gone, gone + n]))
        assert {member % n for member, _ in index.enumerated()} == {member % n for member in index.skyline()}
    done.set()
    for thread in threads:
        thread.join()
    assert torn == []
    assert searches > 0
    index._parts._check()
    members = list(index.skyline())
    index.compact()
    assert list(index.skyline()) == members


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))])
def test_a_copy_goes_its_own_way(copied):
    points = np.random.default_rng(1).random((3000, 3))
    index = SkylineIndex(points, labels=np.arange(3000) % 3, background=True)
    index.insert([7], [[0.5, 0.5, 0.5]], [1])
    members = list(index.skyline())
    twin = copied(index)
    index.delete(members)
    assert list(twin.skyline()) == members
    twin.insert([9000], [[-1.0, -1.0, -1.0]], [0])
    twin._parts._check()
    assert (list(twin.skyline()), len(twin), twin.maintain()) == ([9000], 3001, False)
    assert len(index) == 3000 - len(members)
