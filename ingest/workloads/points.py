"""Random points in the unit cube, smaller is better, in the distributions that the papers use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from skyline.view import Floats

Draw = Callable[[np.random.Generator, int, int], Floats]


def independent(rng: np.random.Generator, count: int, width: int) -> Floats:
    """Every coordinate uniform."""
    return rng.random((count, width))


def normal(rng: np.random.Generator, count: int, width: int) -> Floats:
    """Every coordinate normal around the middle (ESC's)."""
    return rng.normal(0.5, 0.15, (count, width)).clip(0, 1)


def correlated(rng: np.random.Generator, count: int, width: int) -> Floats:
    """Near the diagonal: what is good in one dimension is good in all. Few members."""
    return (rng.random((count, 1)) + rng.normal(0, 0.05, (count, width))).clip(0, 1)


def anticorrelated(rng: np.random.Generator, count: int, width: int) -> Floats:
    """Near a plane across the diagonal: what is good in one dimension is bad in another. Many members."""
    points = rng.random((count, width))
    points += rng.normal(0.5, 0.05, (count, 1)) - points.mean(axis=1, keepdims=True)
    return points.clip(0, 1)


DISTRIBUTIONS: Final[dict[str, Draw]] = {
    "independent": independent,
    "normal": normal,
    "correlated": correlated,
    "anti-correlated": anticorrelated,
}


def draw(distribution: str, rng: np.random.Generator, count: int, width: int) -> Floats:
    """(`count`, `width`) points."""
    return DISTRIBUTIONS[distribution](rng, count, width)
