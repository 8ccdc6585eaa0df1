"""Modification records become the values that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.batch.snapshots import SnapshotSkyline
from skyline.batch.snapshots_modifications import OPERATORS, resolve
from skyline.errors import InvalidInput
from tests import naive

MEANING = {
    "replace": lambda _, operand: operand,
    "add": lambda value, operand: value + operand,
    "multiply": lambda value, operand: value * operand,
    "average": lambda value, operand: (value + operand) / 2,
}
RECORDS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.sampled_from(sorted(OPERATORS)),
        st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2),
    ),
    max_size=20,
)


@given(records=RECORDS)
@settings(deadline=None, max_examples=200)
def test_records_take_effect_in_order(records):
    start = np.arange(10.0).reshape(5, 2)
    current = start.copy()
    for row, operator, operands in records:
        for k in range(2):
            current[row, k] = MEANING[operator](current[row, k], operands[k])
    rows, points = resolve(start, [r for r, _, _ in records], [o for _, o, _ in records], [v for _, _, v in records])
    assert rows.tolist() == sorted({row for row, _, _ in records})
    np.testing.assert_array_equal(points, current[rows])
    np.testing.assert_array_equal(start, np.arange(10.0).reshape(5, 2))


def test_one_operator_for_all_records():
    rows, points = resolve([[1.0, 2.0], [3.0, 4.0]], [1, 0], "multiply", [[2, 0], [-1, 10]])
    assert rows.tolist() == [0, 1]
    assert points.tolist() == [[-1.0, 20.0], [6.0, 0.0]]


def test_what_is_resolved_is_what_apply_takes():
    view = SnapshotSkyline([[1.0, 9.0], [4.0, 4.0], [5.0, 5.0]], ["min", "max"])
    members = view.apply(*resolve(view.points(), [1, 1, 2], ["add", "average", "multiply"], [[-4, 8], [0, 6], [3, 1]]))
    assert view.points().tolist() == [[1.0, 9.0], [0.0, 9.0], [15.0, 5.0]]
    assert members.tolist() == naive.skyline([[x, -y] for x, y in view.points()])


def test_infinities_are_values():
    _, points = resolve([[np.inf, 1.0]], [0], "add", [[1.0, -np.inf]])
    assert points.tolist() == [[np.inf, -np.inf]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([[1.0]], [0], "subtract", [[1.0]]),
            "operator must be one of replace, add, multiply, average, got 'subtract'",
        ),
        (([[1.0]], [0], ["add", "add"], [[1.0]]), "2 operators given for 1 records"),
        (([[1.0]], [1], "add", [[1.0]]), "row 1 does not exist: rows are 0 to 0"),
        (([[1.0]], [0], "add", [[1.0, 2.0]]), r"points must have shape \(n, 1\)"),
        (([[1.0]], [0], "add", [[float("nan")]]), "is NaN"),
        (([[np.inf]], [0], "multiply", [[0.0]]), r"row 0: its records make \[nan\] of \[inf\]"),
        (([[np.inf]], [0], "add", [[-np.inf]]), "NaN has no order"),
        (([1.0], [0], "add", [[1.0]]), r"points must have shape \(n, d\)"),
    ],
)
def test_records_without_meaning_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        resolve(*arguments)
