"""GET /views/{view}/skyline: the members, under any question that makes sense."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from typing import Annotated

import orjson
from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from query import openapi
from query.answers import PLAIN_AT_ONCE, Search, approximate_answer, search_answer, window_answer
from query.followed import FollowedView
from query.gate import Deadline
from query.past import past_answer
from query.problems import Problem, too_large
from query.question import MAX_K, MAX_NODES, Question, check_combination
from query.routes.common import JSON, NDJSON, Here, MinOffset, Service, ViewName, only
from query.table import State
from query.windowed import WindowTable

router = APIRouter(tags=["skyline"])

_PARAMETERS = (
    "where", "dims", "rank", "near", "k", "group", "enumerate", "approximate", "as_of", "last", "between", "limit",
    "min_offset",
)  # fmt: skip


@router.get("/views/{view}/skyline", summary="The skyline", responses=openapi.SKYLINE)
async def skyline(
    request: Request,
    here: Here,
    view: ViewName,
    where: Annotated[list[str], Query(description="Only objects that satisfy this take part; repeatable", examples=["price<=100"])] = [],  # noqa: B006, E501
    dims: Annotated[str | None, Query(description="Only these dimensions count", examples=["price,distance"])] = None,
    rank: Annotated[str | None, Query(description="Best first by the weighted sum", examples=["price:0.7,distance:0.3"])] = None,  # noqa: E501
    near: Annotated[str | None, Query(description="In these dimensions the distance to a value counts", examples=["price:100"])] = None,  # noqa: E501
    k: Annotated[int, Query(ge=1, le=MAX_K, description="Members are all that fewer than k objects dominate")] = 1,
    group: Annotated[list[str], Query(description="Only groups with this value; repeatable, once per field", examples=["city:Paris"])] = [],  # noqa: B006, E501
    enumerate: Annotated[bool, Query(description="With each member, how many objects it dominates")] = False,
    approximate: Annotated[int | None, Query(ge=1, le=MAX_NODES, description="What so many pages of the index tell, with a bound on the error")] = None,  # noqa: E501
    as_of: Annotated[str | None, Query(description="The members at a past event time, in milliseconds or ISO 8601")] = None,  # noqa: E501
    last: Annotated[str | None, Query(description="Window views: of the newest n elements (or of a duration)")] = None,
    between: Annotated[str | None, Query(description="Window views: of the n2-th to the n1-th newest", examples=["100,200"])] = None,  # noqa: E501
    limit: Annotated[int | None, Query(ge=1, le=1_000_000, description="At most so many members")] = None,
    min_offset: MinOffset = None,
) -> Response:  # fmt: skip
    """The members of the view, or of the part, space, depth or time that the parameters name."""
    only(request, *_PARAMETERS)
    followed = here.view(view)
    read = followed.reader
    low, high = read.box(where)
    question = Question(
        low, high, read.dims(dims), read.weights(rank), read.reference(near), k, read.group(group), enumerate,
        approximate, read.time("as_of", as_of), None if last is None else read.extent("last", last),
        read.stretch(between), limit,
    )  # fmt: skip
    check_combination(question)
    state = await here.state(followed, min_offset)
    if NDJSON in request.headers.get("accept", ""):
        return await _stream(here, followed, state, question)
    return Response(await _whole(here, followed, state, question, here.config.max_results), media_type=JSON)


async def _whole(here: Service, view: FollowedView, state: State, question: Question, most: int) -> bytes:
    if question.limit is not None and question.limit > most:
        raise too_large(most)
    deadline = here.gate.deadline()
    if question.plain:
        return await _plainly(here, state, lambda: _plain(view, question, most))
    if question.as_of is not None:
        await view.published(state, question.as_of, here.config.wait_seconds)
        return await here.gate.run(deadline, lambda: past_answer(view, state, question, most))
    if isinstance(view.table, WindowTable) and (question.last or question.between):
        window = view.table
        return await here.gate.run(deadline, lambda: window_answer(window, question, view.encoder, most))
    if question.approximate is not None:
        return await here.gate.run(
            deadline, lambda: approximate_answer(view.table, state, question, view.encoder, most)
        )
    return await here.gate.run(
        deadline, lambda: search_answer(view.table, state, question, view.encoder, deadline, most)
    )


async def _plainly(here: Service, state: State, compute: Callable[[], bytes]) -> bytes:
    """A plain answer: at once where that is quick, else where searches run."""
    return compute() if state.members <= PLAIN_AT_ONCE else await here.gate.run(here.gate.deadline(), compute)


def _plain(view: FollowedView, question: Question, most: int) -> bytes:
    state, members = view.plain.members()
    shown = members if question.limit is None else members[: question.limit]
    if len(shown) > most:
        raise too_large(most)
    return view.encoder.answer(state.stamp, shown, count=len(shown), complete=len(shown) == len(members))


def _plain_lines(view: FollowedView, question: Question) -> bytes:
    state, members = view.plain.members()
    shown = members if question.limit is None else members[: question.limit]
    tail = orjson.dumps({"count": len(shown), "complete": len(shown) == len(members)})
    return b"\n".join([view.encoder.head(state.stamp), *shown, tail, b""])


async def _stream(here: Service, view: FollowedView, state: State, question: Question) -> Response:
    """One line that says which state this is, one line per member as it is found, one line that says it is all."""
    if question.at_once:
        whole = await _whole(here, view, state, question, sys.maxsize)
        return Response(await here.gate.run(here.gate.deadline(), lambda: _as_lines(whole)), media_type=NDJSON)
    if question.plain:
        return Response(await _plainly(here, state, lambda: _plain_lines(view, question)), media_type=NDJSON)
    return StreamingResponse(_lines(here, view, state, question, here.gate.deadline()), media_type=NDJSON)


def _as_lines(answer: bytes) -> bytes:
    whole = orjson.loads(answer)
    lines = [orjson.dumps(member) for member in whole.pop("members")]
    tail = {name: whole.pop(name) for name in ("count", "complete")}
    return b"\n".join([orjson.dumps(whole), *lines, orjson.dumps(tail), b""])


async def _lines(
    here: Service, view: FollowedView, state: State, question: Question, deadline: Deadline
) -> AsyncIterator[bytes]:
    yield view.encoder.head(state.stamp) + b"\n"
    search = Search(view.table, state, question, view.encoder)
    chunks, count = search.chunks(deadline), 0
    try:
        while (chunk := await here.gate.run(deadline, lambda: next(chunks, None))) is not None:
            count += len(chunk)
            if chunk:
                yield b"\n".join([*chunk, b""])
        yield orjson.dumps({"count": count, "complete": not search.cut}) + b"\n"
    except Problem as problem:
        yield orjson.dumps({"count": count, "complete": False, "problem": problem.document}) + b"\n"
