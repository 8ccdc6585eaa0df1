"""What has no meaning is refused with the reason; what has an obvious answer gets it; nothing changes on refusal."""

from __future__ import annotations

import numpy as np
import pytest

from skyline import SkylineIndex
from skyline.errors import InvalidInput


@pytest.fixture
def index():
    return SkylineIndex([[1, 9], [3, 2], [9, 1]], ["min", "max"])


REFUSED = [
    ("box", lambda i: i.constrained([5, 0], [1, 9]), "upside down in d0: low 5.0 is above high 1.0"),
    ("box length", lambda i: i.constrained([5], [1, 9]), "low must have 2 numbers"),
    ("box text", lambda i: i.constrained(["a", 0], [1, 9]), "low must be numbers"),
    ("box text of digits", lambda i: i.constrained(["1", 0], [1, 9]), "low must be numbers, got ['1', 0]"),
    ("box beyond floats", lambda i: i.constrained([-(10**400), 0], [1, 9]), "low must be numbers"),
    ("negative weight", lambda i: i.ranked([1, -1], 2), "weights must be finite and not negative"),
    ("infinite weight", lambda i: i.ranked([1, np.inf], 2), "weights must be finite"),
    ("NaN weight", lambda i: i.ranked([1, np.nan], 2), "weights must be finite"),
    ("ranked k", lambda i: i.ranked([1, 1], 0), "k must be an integer of at least 1, got 0"),
    ("skyband k", lambda i: i.skyband(0), "k must be an integer of at least 1, got 0"),
    ("skyband fraction", lambda i: i.skyband(1.5), "got 1.5"),
    ("skyband bool", lambda i: i.skyband(True), "got True"),
    ("dominating k", lambda i: i.dominating(-3), "got -3"),
    ("limit", lambda i: i.search(limit=-1), "limit must be"),
    ("limit bool", lambda i: i.search(limit=False), "limit must be"),
    ("frozen limit", lambda i: i.freeze().search(limit=-1), "limit must be"),
    ("no dims", lambda i: i.subspace([]), "name one dimension or more"),
    ("dims twice", lambda i: i.subspace([1, 1]), "each once"),
    ("dims range", lambda i: i.subspace([2]), "2 is no dimension"),
    ("dims negative", lambda i: i.subspace([-1]), "-1 is no dimension"),
    ("dims name", lambda i: i.subspace(["price"]), "'price' is no dimension"),
    ("reference", lambda i: i.dynamic([1, np.inf]), "reference must be finite"),
    ("reference length", lambda i: i.dynamic([1]), "reference must have 2 numbers"),
    ("label", lambda i: i.search(label=3), "holds no labels"),
    ("grouped", lambda i: i.grouped(), "holds no labels"),
    ("labels short", lambda i: i.grouped([1, 2]), "id 2 has none among 2"),
    ("labels order", lambda i: i.grouped([None, "a", 1]), "labels must be of one kind that can be sorted"),
    ("dims fraction", lambda i: i.subspace(0.5), "0.5 is no dimension"),
    ("labels ragged", lambda i: i.grouped([[1], [2, 3], [3]]), "labels must be a sequence"),
    ("labels shape", lambda i: i.grouped([[1], [2], [3]]), "labels must be a sequence"),
    ("nodes", lambda i: i.approximate(0), "nodes must be an integer of at least 1"),
    ("insert NaN", lambda i: i.insert([7], [[1, np.nan]]), "d1 is NaN"),
    ("insert shape", lambda i: i.insert([7], [[1, 2, 3]]), "shape (n, 2)"),
    ("insert ids", lambda i: i.insert([7, 8], [[1, 2]]), "2 ids given for 1 points"),
    ("insert float ids", lambda i: i.insert([7.5], [[1, 2]]), "ids must be a sequence of 64-bit integers"),
    ("insert huge ids", lambda i: i.insert(np.array([2**63], np.uint64), [[1, 2]]), "64-bit integers"),
    ("insert labels", lambda i: i.insert([7], [[1, 2]], [4]), "does not hold labels"),
    ("delete ragged ids", lambda i: i.delete([[1], [2, 3]]), "ids must be a sequence"),
    ("delete ids", lambda i: i.delete(["a"]), "ids must be a sequence of 64-bit integers"),
]


@pytest.mark.parametrize(("call", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_refused_with_the_reason_and_nothing_changed(index, call, message):
    before = list(index.skyband(9))
    with pytest.raises(InvalidInput) as caught:
        call(index)
    assert message in str(caught.value)
    assert list(index.skyband(9)) == before
    assert len(index) == 3


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1, np.nan]],), {}, "row 0: d1 is NaN"),
        (([1, 2, 3],), {}, "shape (n, d)"),
        (([],), {}, "shape (n, d)"),
        ((np.zeros((2, 17)),), {}, "1 to 16 dimensions"),
        (([[1, 2]], ["min"]), {}, "1 directions given for points of 2 dimensions"),
        (([[1, 2]], ["min", "up"]), {}, "direction must be"),
        (([[1], [2]],), {"ids": [4, 4]}, "every id may be given once"),
        (([[1], [2]],), {"ids": [4]}, "1 ids given for 2 points"),
        (([[1], [2]],), {"labels": [4]}, "1 labels given for 2 points"),
        (([[1], [2]],), {"labels": [0, 2**53 + 1]}, "labels must lie between"),
        (([[1], [2]],), {"page": 0}, "page must be"),
    ],
)
def test_an_index_that_cannot_be(arguments, options, message):
    with pytest.raises(InvalidInput) as caught:
        SkylineIndex(*arguments, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("label", [2**53 + 1, -(10**400), 1.0, True])
def test_a_label_that_no_object_can_have_is_refused(label):
    """As a float, 2**53 + 1 would be 2**53."""
    index = SkylineIndex([[1], [2]], labels=[2**53, 1])
    assert list(index.search(label=2**53)) == [0]
    with pytest.raises(InvalidInput, match="label must be an integer between"):
        index.search(label=label)


def test_an_empty_index_answers_everything():
    index = SkylineIndex(np.empty((0, 3)))
    assert list(index.skyline()) == list(index.skyband(3)) == list(index.constrained([0] * 3, [1] * 3)) == []
    assert list(index.ranked([1, 1, 1], 2)) == list(index.dynamic([1, 1, 1])) == list(index.subspace([0])) == []
    assert index.grouped([]) == {}
    assert index.enumerated() == []
    assert index.dominating(2) == []
    assert index.approximate(1).complete
    assert index.node_accesses == 0
    assert len(index) == 0
    assert index.delete([1]) == 0
    assert not index.maintain()
    index.compact()
    index.insert([], np.empty((0, 3)))
    assert SkylineIndex([], ["min", "max"]).skyline().rest().tolist() == []


def test_one_row_is_its_own_skyline():
    index = SkylineIndex([[np.inf, -np.inf]])
    assert list(index.skyline()) == [0]
    assert index.enumerated() == index.dominating(5) == [(0, 0)]
    assert index.node_accesses == 1


def test_the_points_given_are_left_alone():
    points = np.random.default_rng(0).random((500, 2))
    before = points.copy()
    index = SkylineIndex(points)
    index.insert(np.arange(500), points)
    assert (points == before).all()
    points[:] = 0
    assert list(index.skyline()) == list(SkylineIndex(before).skyline())
