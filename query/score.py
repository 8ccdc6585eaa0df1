"""What `rank` orders by: the weighted sum of a member's values, in the space of the question."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from query.question import Question
from skyline.view import Dimensions, Floats
from skyline.wire.fields import jsonable

_HUGE: Final = 1e307
"""Stands for infinity in the order: 16 terms of this size still have a sum. The same as the search's."""


class Score:
    """Sums of rows of values, smaller being better: dimensions that are not asked for, or weigh 0, do not count."""

    def __init__(self, dimensions: Dimensions, question: Question) -> None:
        assert question.weights is not None
        chosen = dimensions.names if question.dims is None else question.dims
        weights = [w if name in chosen else 0.0 for name, w in zip(dimensions.names, question.weights, strict=True)]
        self._axes = np.flatnonzero(weights)
        self._weights = np.array(weights)[self._axes]
        self._signs = dimensions.signs[self._axes]
        near = question.reference or [None] * len(dimensions)
        self._near = np.array([np.nan if value is None else value for value in near])[self._axes]

    def of(self, points: Floats) -> list[float | str | None]:
        """Scores of points (m, d) in given units, as JSON; null where infinities of both signs meet."""
        with np.errstate(invalid="ignore"):
            sums: list[float] = self._terms(points).sum(axis=1).tolist()
        return [None if math.isnan(value) else jsonable(value) for value in sums]

    def order(self, points: Floats) -> Floats:
        """Numbers to sort points by: the scores, with infinities as large finite numbers."""
        sums: Floats = self._terms(points).clip(-_HUGE, _HUGE).sum(axis=1)
        return sums

    def _terms(self, points: Floats) -> Floats:
        values = points[:, self._axes]
        distance = ~np.isnan(self._near)
        inward = np.where(distance, np.abs(values - np.where(distance, self._near, 0.0)), values * self._signs)
        terms: Floats = inward * self._weights + 0.0
        return terms
