"""Layers against the definition: peel the skyline off, again and again."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from query.gate import Deadline
from query.layers import depth
from tests import naive


def peels(points: list[list[float]], most: int) -> int:
    count = 0
    while points and count < most:
        top = set(naive.skyline(points))
        points = [point for row, point in enumerate(points) if row not in top]
        count += 1
    return count


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
def test_layers_by_definition(dimensions: int) -> None:
    rng = random.Random(dimensions)
    values = [-math.inf, 0.0, 1.0, 2.0, 3.0, 4.0, 0.1, 0.2, math.inf]
    for count in (0, 1, 2, 30, 90):
        points = [[rng.choice(values) for _ in range(dimensions)] for _ in range(count)]
        for most in (1, 3, 10):
            rows = np.array(points).reshape(-1, dimensions)
            assert depth(rows, most, Deadline(math.inf)) == (peels(points, most), True)


def test_when_time_is_short_it_is_a_lower_bound() -> None:
    rows = np.arange(5000.0).reshape(-1, 1)
    layers, is_all = depth(rows, 10_000, Deadline(0.0))
    assert not is_all
    assert layers < 5000
