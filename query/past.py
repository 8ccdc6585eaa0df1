"""The members at a past event time, from the published changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from query.problems import Problem, bad_parameter, too_large
from query.question import Question, matches
from query.stamp import NO_CLOCK, Stamp
from query.table import State

if TYPE_CHECKING:
    from query.followed import FollowedView


def past_answer(view: FollowedView, state: State, question: Question, most: int) -> bytes:
    """The members at `as_of`, as they were then. O(members then, and some thousand changes)."""
    at, history, clock = question.as_of, view.history, state.stamp.clock
    assert at is not None
    if at > clock:
        shown = "has not started" if clock == NO_CLOCK else f"shows {clock}"
        raise bad_parameter("as_of", f"{at} has not come: the view's clock {shown}", "times up to the clock", "as_of=0")
    oldest = history.oldest
    if not history.whole and oldest is not None and at < oldest:
        raise Problem(
            410, "history-gone", "That time is no longer held",
            f"as_of: {at} is before {oldest}, the oldest change held",
            parameter="as_of", allowed=f"times from {oldest} to {clock}", example=f"as_of={oldest}",
        )  # fmt: skip
    seq = history.seq_at(at)
    made = [orjson.loads(value) for value in history.members_after(seq)]
    members = [_member(view, change, question) for change in made if matches(change.get("group", {}), question.group)]
    members.sort(key=lambda member: (member.get("score", 0.0), member["key"]))
    limited = members if question.limit is None else members[: question.limit]
    if len(limited) > most:
        raise too_large(most)
    return view.encoder.answer(
        Stamp(_offset(view, seq), at, seq), [orjson.dumps(member) for member in limited], count=len(limited),
        complete=len(limited) == len(members), as_of=at,
    )  # fmt: skip


def _member(view: FollowedView, change: dict[str, Any], question: Question) -> dict[str, Any]:
    member: dict[str, Any] = {name: change[name] for name in ("key", "point", "group", "carry") if name in change}
    if question.weights is not None:
        signs = view.view.dimensions.signs
        values = np.array([float(change["point"][name]) for name in view.view.dimensions.names])
        weights = np.array(question.weights)
        member["score"] = float((values * signs)[weights > 0] @ weights[weights > 0])
    return member


def _offset(view: FollowedView, seq: int) -> int:
    """Offset of the update that made change `seq`."""
    for _, value in view.history.after(seq - 1, 1):
        return int(orjson.loads(value)["offset"]) if seq else -1
    return -1
