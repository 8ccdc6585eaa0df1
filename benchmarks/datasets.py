"""Seeded points in the unit cube, drawn as the skyline literature draws them (Börzsönyi, Kossmann, Stocker, 2001).

Every function takes the number of points, the number of dimensions and a seed, and gives an (n, d) float64 array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def independent(n: int, d: int, seed: int = 1) -> Floats:
    """Every coordinate uniform and independent of the others."""
    return np.random.default_rng(seed).random((n, d))


def correlated(n: int, d: int, seed: int = 1) -> Floats:
    """Points near the main diagonal: good in one dimension, good in all."""

    def draw(rng: np.random.Generator, count: int) -> Floats:
        return _spread_around(rng.random((count, d)).mean(axis=1), d, lambda: 2 * _bell(rng, count) - 1)

    return _inside_unit_cube(draw, n, seed)


def anticorrelated(n: int, d: int, seed: int = 1) -> Floats:
    """Points near a plane across the main diagonal: good in one dimension, bad in another."""

    def draw(rng: np.random.Generator, count: int) -> Floats:
        centre = 0.25 + 0.5 * _bell(rng, count)
        return _spread_around(centre, d, lambda: rng.uniform(-1, 1, count))

    return _inside_unit_cube(draw, n, seed)


DISTRIBUTIONS: Final[dict[str, Callable[[int, int, int], Floats]]] = {
    "independent": independent,
    "correlated": correlated,
    "anti-correlated": anticorrelated,
}


def _bell(rng: np.random.Generator, count: int) -> Floats:
    """Near-normal numbers in (0, 1): means of twelve uniform ones."""
    bell: Floats = rng.random((count, 12)).mean(axis=1)
    return bell


def _spread_around(centre: Floats, d: int, shift: Callable[[], Floats]) -> Floats:
    """Points on the diagonal at `centre`, moved across it: what one coordinate gains, the next one loses."""
    points = np.repeat(centre[:, None], d, axis=1)
    reach = np.minimum(centre, 1 - centre)
    for i in range(d):
        moved = shift() * reach
        points[:, i] += moved
        points[:, (i + 1) % d] -= moved
    return points


def _inside_unit_cube(draw: Callable[[np.random.Generator, int], Floats], n: int, seed: int) -> Floats:
    """Draws until `n` points lie in the unit cube."""
    rng = np.random.default_rng(seed)
    parts: list[Floats] = []
    have = 0
    while have < n:
        drawn = draw(rng, (n - have) * 3 // 2 + 16)
        drawn = drawn[((drawn >= 0) & (drawn <= 1)).all(axis=1)]
        parts.append(drawn)
        have += len(drawn)
    return np.concatenate(parts)[:n].copy()
