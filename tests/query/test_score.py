"""Scores: in the space of the question, whatever is infinite."""

from __future__ import annotations

import numpy as np

from query.question import Question
from query.score import Score
from skyline.view import Dimensions

DIMENSIONS = Dimensions.of({"price": "min", "rating": "max"})
INF = float("inf")


def test_maximised_values_count_negative() -> None:
    assert Score(DIMENSIONS, Question(weights=[2.0, 1.0])).of(np.array([[3.0, 4.0]])) == [2.0]


def test_only_the_chosen_dimensions_count() -> None:
    question = Question(weights=[2.0, 1.0], dims=("price",))
    assert Score(DIMENSIONS, question).of(np.array([[3.0, 4.0]])) == [6.0]


def test_where_a_distance_counts_it_is_the_distance() -> None:
    question = Question(weights=[2.0, 1.0], reference=[None, 5.0])
    assert Score(DIMENSIONS, question).of(np.array([[3.0, 4.0], [3.0, 6.5]])) == [7.0, 7.5]


def test_infinities_have_a_place_in_the_order() -> None:
    score = Score(DIMENSIONS, Question(weights=[1.0, 1.0]))
    points = np.array([[INF, 1.0], [1.0, INF], [INF, INF], [-INF, -INF], [2.0, 1.0]])
    assert score.of(points) == ["Infinity", "-Infinity", None, None, 1.0]
    assert np.argsort(score.order(points), kind="stable").tolist() == [1, 2, 3, 4, 0]
    nothing = Score(DIMENSIONS, Question(weights=[0.0, 1.0]))
    assert nothing.of(np.array([[INF, 1.0]])) == [-1.0], "what weighs nothing does not count, infinite or not"
