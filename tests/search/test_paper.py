"""The paper's running example, and its counts at a million points."""

from __future__ import annotations

import pytest

from benchmarks.datasets import anticorrelated, independent
from skyline import SkylineIndex

HOTELS = {
    "a": (1, 9), "b": (2, 10), "c": (4, 8), "d": (6, 7), "e": (9, 10), "f": (7, 5), "g": (5, 6),
    "h": (4, 3), "i": (3, 2), "k": (9, 1), "l": (10, 4), "m": (6, 2), "n": (8, 3),
}  # fmt: skip
NAMES = list(HOTELS)


@pytest.fixture(scope="module")
def hotels():
    return SkylineIndex(list(HOTELS.values()), {"distance": "min", "price": "min"}, page=180)


def names(ids):
    return [NAMES[row] for row in ids]


def test_table_3_the_skyline_in_the_order_of_mindist(hotels):
    assert names(hotels.skyline()) == ["i", "a", "k"]


def test_figure_12_hotels_that_cost_4_to_7(hotels):
    assert names(hotels.constrained([None, 4], [None, 7])) == ["g", "f", "l"]


def test_table_5_the_2_skyband_in_the_order_of_mindist(hotels):
    """The paper's K is the number of dominators that are allowed, ours is one more."""
    assert names(hotels.skyband(3)) == ["i", "h", "m", "a", "k", "g", "b", "c"]


def test_section_4_5_how_many_each_hotel_dominates(hotels):
    assert {NAMES[row]: count for row, count in hotels.enumerated()} == {"i": 9, "a": 2, "k": 2}
    assert [(NAMES[row], count) for row, count in hotels.dominating(3)] == [("i", 9), ("h", 7), ("m", 5)]


def test_a_million_independent_points_cost_about_95_pages():
    """Section 6.3 and 6.7: 119 members, 95 node accesses, 788 in the 9-skyband."""
    index = SkylineIndex(independent(1_000_000, 3))
    assert 60 <= len(list(index.skyline())) <= 240
    assert 48 <= index.node_accesses <= 190
    assert 394 <= len(list(index.skyband(10))) <= 1576


def test_anticorrelated_points_cost_more():
    """Section 6.3: 380 node accesses at a million."""
    index = SkylineIndex(anticorrelated(100_000, 3))
    members = len(list(index.skyline()))
    pages = index.node_accesses
    other = SkylineIndex(independent(100_000, 3))
    assert len(list(other.skyline())) < members
    assert other.node_accesses < pages
