"""Whatever takes a bare array takes the same arrays and directions, and refuses the same ones for the same reason."""

from __future__ import annotations

import numpy as np
import pytest

from skyline import InvalidInput, SkylineIndex, SnapshotSkyline, skyband_of, skyline_of
from skyline.batch import SkylineMerge, grouped_skyline_of

TAKERS = {
    "skyline_of": skyline_of,
    "skyband_of": lambda points, directions=None: skyband_of(points, 1, directions),
    "grouped_skyline_of": lambda points, directions=None: grouped_skyline_of(points, [0] * len(points), directions),
    "SkylineIndex": lambda points, directions=None: np.sort(SkylineIndex(points, directions).skyline()),
    "SnapshotSkyline": lambda points, directions=None: SnapshotSkyline(points, directions).members(),
}
ROWS = [[80, 4], [95, 5], [99, 4], [80, 4]]
MEMBERS = [0, 1, 3]


@pytest.fixture(params=TAKERS.values(), ids=TAKERS)
def members_of(request):
    return request.param


@pytest.mark.parametrize(
    "directions",
    [["min", "max"], ("min", "max"), np.array(["min", "max"]), {"price": "min", "rating": "max"}],
    ids=["list", "tuple", "array", "mapping"],
)
def test_directions_in_any_form(members_of, directions):
    assert members_of(ROWS, directions).tolist() == MEMBERS


@pytest.mark.parametrize("directions", ["max", {"min", "max"}, 1, ["MIN", "MAX"], ["min"], {"price": "min"}])
def test_directions_that_do_not_say_which(members_of, directions):
    with pytest.raises(InvalidInput, match="direction"):
        members_of(ROWS, directions)


@pytest.mark.parametrize("dtype", [np.float32, np.longdouble, np.int8, np.uint8, np.uint64, ">f8", object])
def test_any_kind_of_number(members_of, dtype):
    assert members_of(np.array(ROWS).astype(dtype), ["min", "max"]).tolist() == MEMBERS


def test_any_layout(members_of):
    wide = np.zeros((8, 6))
    wide[::2, ::3] = ROWS
    for points in (np.asfortranarray(ROWS), wide[::2, ::3], np.array(ROWS)[::-1][::-1]):
        assert members_of(points, ["min", "max"]).tolist() == MEMBERS


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([["80", "4"], ["95", "5"]], "points must be numbers, got <U2"),
        (np.ones((2, 2), complex), "points must be numbers, got complex128"),
        (np.zeros((2, 2), "M8[s]"), "points must be numbers, got datetime64"),
        ([[1.0, 2.0], [3.0]], "points must be numbers"),
        ([[10**400, 1.0]], "points must be numbers"),
        ([[1.0, 2.0], [None, 1.0]], "row 1: d0 is NaN"),
        (np.ma.masked_greater(ROWS, 95), "row 2: d0 is NaN"),
        ([1.0, 2.0], "shape (n, d), got (2,)"),
        ([[], []], "1 to 16 dimensions, got 0"),
        (np.zeros((2, 17)), "1 to 16 dimensions, got 17"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(members_of, points, message):
    with pytest.raises(InvalidInput) as caught:
        members_of(points)
    assert message in str(caught.value)


def test_no_rows(members_of):
    assert members_of([], ["min", "max"]).tolist() == []
    assert members_of(np.empty((0, 3))).tolist() == []


@pytest.mark.parametrize("k", [10**9, 2**63, 2**80])
def test_a_count_may_be_as_large_as_it_likes(k):
    index = SkylineIndex(ROWS)
    assert skyband_of(ROWS, k).tolist() == [0, 1, 2, 3]
    assert sorted(index.skyband(k)) == [0, 1, 2, 3]
    assert len(index.dominating(k)) == 4
    assert sorted(index.ranked([1, 1], k)) == [0, 3]
    assert index.approximate(k).complete
    assert SnapshotSkyline(ROWS, cfp=k).apply([1], [[1, 1]]).tolist() == [1]
    assert SkylineMerge(["min", "max"], k).add(ROWS).tolist() == [0, 1, 2, 3]
