"""The members at a past event time, from the published changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from query.problems import Problem, bad_parameter, too_large
from query.question import Question, matches
from query.score import Score
from query.stamp import NO_CLOCK, Stamp
from query.table import State

if TYPE_CHECKING:
    from query.followed import FollowedView


def past_answer(view: FollowedView, state: State, question: Question, most: int) -> bytes:
    """The members at `as_of`, as they were then. O(members then, and some thousand changes)."""
    at, history, clock = question.as_of, view.history, state.stamp.clock
    assert at is not None
    if at > clock:
        if clock == NO_CLOCK:
            raise bad_parameter("as_of", f"{at} has not come: no update has", "nothing yet", "leave as_of out")
        detail = f"{at} has not come: the view's clock shows {clock}"
        raise bad_parameter("as_of", detail, "times up to the clock", f"as_of={clock}")
    past = history.at(at)
    if past is None:
        raise _gone(view, at, clock)
    made = [orjson.loads(value) for value in past.members]
    asked_for = [change for change in made if matches(change.get("group", {}), question.group)]
    members = _in_order(view, asked_for, question)
    limited = members if question.limit is None else members[: question.limit]
    if len(limited) > most:
        raise too_large(most)
    return view.encoder.answer(
        Stamp(past.offset, at, past.seq), [orjson.dumps(member) for member in limited], count=len(limited),
        complete=len(limited) == len(members), as_of=at,
    )  # fmt: skip


def _in_order(view: FollowedView, changes: list[dict[str, Any]], question: Question) -> list[dict[str, Any]]:
    """The members that these changes made: by key, or best first with their scores."""
    changes.sort(key=lambda change: change["key"])
    fields = ("key", "point", "group", "carry")
    members = [{name: change[name] for name in fields if name in change} for change in changes]
    if question.weights is None:
        return members
    dimensions = view.view.dimensions
    score = Score(dimensions, question)
    values = [[float(member["point"][name]) for name in dimensions.names] for member in members]
    points = np.array(values).reshape(-1, len(dimensions))
    scored = [{**member, "score": value} for member, value in zip(members, score.of(points), strict=True)]
    return [scored[row] for row in np.argsort(score.order(points), kind="stable").tolist()]


def _gone(view: FollowedView, at: int, clock: int) -> Problem:
    oldest = view.history.oldest
    if not view.history.rooted:
        return Problem(
            410, "history-gone", "The past is not known",
            f"as_of: {view.view.topic('changes')} has lost its beginning, so who was a member then is not known",
            parameter="as_of", allowed="questions about now", example=f"/views/{view.view.name}/skyline",
        )  # fmt: skip
    return Problem(
        410, "history-gone", "That time is no longer held", f"as_of: {at} is before {oldest}, the oldest change held",
        parameter="as_of", allowed=f"times from {oldest} to {clock}", example=f"as_of={oldest}",
    )  # fmt: skip
