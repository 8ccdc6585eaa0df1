"""Members come one by one, the first after a few pages; what was asked before does not see what is inserted later."""

from __future__ import annotations

import numpy as np
import pytest

from skyline import SkylineIndex
from tests import naive


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(11).random((100_000, 3))


@pytest.fixture(scope="module")
def index(points):
    return SkylineIndex(points)


def test_the_first_member_needs_a_few_pages_and_the_last_all(index, points):
    members = index.skyline()
    assert index.node_accesses == 0
    first = next(members)
    early = index.node_accesses
    assert first == points.sum(axis=1).argmin()
    assert early <= 6
    rest = list(members)
    assert index.node_accesses > 5 * early
    assert len({first, *rest}) == 1 + len(rest)


def test_pages_are_read_once_and_never_more_than_there_are(index):
    list(index.skyband(50))
    assert index.node_accesses <= -(-100_000 // 144) + 10


def test_members_are_ascending_in_mindist_and_never_taken_back(index, points):
    seen = []
    for member in index.skyline():
        assert not any(naive.dominates(points[member], points[other]) for other in seen)
        seen.append(member)
    sums = points[seen].sum(axis=1)
    assert (np.diff(sums) >= 0).all()


def test_a_search_can_pause_after_so_many_pages(index):
    expected = index.skyline().places().tolist()
    members, found, pauses = index.skyline(), [], 0
    while not members.over:
        before = members.node_accesses
        found += members.places(pages=3).tolist()
        assert members.node_accesses <= before + 3
        pauses += 1
    assert found == expected
    assert pauses > 5
    few = index.skyline()
    assert few.places(4, pages=10_000).tolist() == expected[:4]
    assert not few.over


def test_all_ways_to_read_the_members_agree(index):
    expected = list(index.skyline())
    assert np.asarray(index.skyline()).tolist() == expected
    assert np.fromiter(index.skyline(), np.int64).tolist() == expected
    assert np.array(index.skyline(), np.float64).tolist() == expected
    assert index.skyline().rest().tolist() == expected
    members = index.skyline()
    piecewise = [next(members), next(members), *members.take(7), next(members), *members.take(0), *members.rest()]
    assert piecewise == expected
    assert members.take(5).tolist() == []
    with pytest.raises(StopIteration):
        next(members)


def test_searches_may_take_turns(index):
    one, other = index.skyline(), index.skyband(2)
    taken = [(next(one), next(other)) for _ in range(20)]
    assert [pair[0] for pair in taken] == index.skyline().take(20).tolist()
    assert [pair[1] for pair in taken] == index.skyband(2).take(20).tolist()


def test_each_search_counts_its_own_pages(index):
    one = index.skyline()
    next(one)
    other = index.skyband(5)
    other.rest()
    assert index.node_accesses == other.node_accesses > one.node_accesses


def test_a_search_sees_the_index_as_it_was_when_it_began():
    points = np.random.default_rng(12).random((5000, 3))
    index = SkylineIndex(points, page=300)
    expected = list(index.skyline())
    members = index.skyline()
    got = [next(members)]
    index.delete(expected[:10])
    index.insert(np.arange(5000, 9000), np.random.default_rng(13).random((4000, 3)) / 2)
    index.insert(np.arange(9000, 9010), np.zeros((10, 3)))
    got.append(next(members))
    index.delete(np.arange(4000))
    index.compact()
    assert [*got, *members] == expected
    assert list(index.skyline()) == list(range(9000, 9010))


def test_a_limit_ends_the_search(index):
    assert list(index.search(limit=0)) == []
    assert list(index.search(limit=3)) == index.skyline().take(3).tolist()
    assert len(list(index.search(limit=10**9))) == len(list(index.skyline()))
