"""GET /views/{view}/changes, /history, /sizes: what happened, as a stream, as pages, as intervals, as a curve."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from query import openapi
from query.followed import FollowedView
from query.problems import bad_parameter, too_busy
from query.routes.common import JSON, Here, Service, ViewName, only, stamped
from query.stream import ChangeStream
from query.table import State

router = APIRouter(tags=["changes"])
_PAGE: Final = 10_000
_STEP_SECONDS: Final = 0.25
"""Seldom enough for thousands of streams that wait for what never comes."""


@router.get("/views/{view}/changes", summary="Changes, as they happen or in pages", responses=openapi.CHANGES)
async def changes(
    request: Request,
    here: Here,
    view: ViewName,
    after: Annotated[int | None, Query(ge=0, le=2**62, description="Number (seq) of the last change that you have")] = None,  # noqa: E501
    limit: Annotated[int, Query(ge=1, le=_PAGE, description="Changes in a page; has no meaning for a stream")] = 100,
    last_event_id: Annotated[str | None, Header(description="As `after`, sent by EventSource when it reconnects")] = None,  # noqa: E501
) -> Any:  # fmt: skip
    """Server-Sent Events, one per change; with `Accept: application/json` a page of them, the newest by default."""
    only(request, "after", "limit")
    followed = here.view(view)
    state = followed.state
    if JSON in request.headers.get("accept", ""):
        upto = min(followed.seq(state), followed.history.last)
        start = upto - limit if after is None else after
        found = await here.gate.run(here.gate.deadline(), lambda: followed.history.after(start, limit))
        page = [change for change in found if change[0] <= upto]
        head = followed.encoder.head(
            state.stamp, first=followed.history.first, last=followed.history.last, count=len(page),
            next=page[-1][0] if page else after or 0,
        )  # fmt: skip
        return Response(head[:-1] + b',"changes":[' + b",".join([value for _, value in page]) + b"]}", media_type=JSON)
    if sum(other.feed.streams for other in here.views.values()) >= here.config.max_readers:
        raise too_busy(f"{here.config.max_readers} change streams are open already")
    start = followed.feed.flushed if after is None else after
    if last_event_id:
        start = _event_id(last_event_id)
    reach = partial(_reach, followed, here.config.wait_seconds)
    return _Streaming(ChangeStream(followed.history, followed.feed, start, _counter(here, view), reach))


@router.get("/views/{view}/history", summary="When an object was a member", responses=openapi.HISTORY)
async def history(
    request: Request,
    here: Here,
    view: ViewName,
    key: Annotated[str, Query(description="The object's id", examples=["h7"])],
    limit: Annotated[int, Query(ge=1, le=10_000, description="Intervals at most, newest first")] = 100,
) -> Response:
    """Half-open intervals of event time, newest first; `until` is null while it is a member."""
    only(request, "key", "limit")
    followed = here.view(view)
    state = followed.state
    published, found = await here.gate.run(here.gate.deadline(), lambda: followed.intervals(key, state, limit))
    return stamped(followed, state, key=key, whole=followed.history.whole, published=published, intervals=found)


@router.get("/views/{view}/sizes", summary="Members over time", responses=openapi.SIZES)
async def sizes(
    request: Request,
    here: Here,
    view: ViewName,
    since: Annotated[str | None, Query(description="Event time to begin at, in milliseconds or ISO 8601")] = None,
    points: Annotated[int, Query(ge=2, le=10_000, description="Points of the curve at most")] = 500,
) -> Response:
    """Number of members after changes, thinned out evenly."""
    only(request, "since", "points")
    followed = here.view(view)
    state = followed.state
    begin = followed.reader.time("since", since)
    return await here.gate.run(here.gate.deadline(), lambda: _curve(followed, state, begin, points))


def _curve(view: FollowedView, state: State, since: int | None, points: int) -> Response:
    curve = view.history.sizes(since, points, view.seq(state))
    return stamped(view, state, count=len(curve), sizes=[{"at": at, "size": size} for at, size in curve])


async def _reach(view: FollowedView, seconds: float, seq: int) -> int:
    """Number of the last change that there can be. It waits for `seq`: another service may have been ahead of this."""
    end = time.monotonic() + seconds
    while (last := max(view.history.last, view.seq(view.state))) < seq and time.monotonic() < end:
        await asyncio.sleep(_STEP_SECONDS)
    return last


def _event_id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        allowed = "the id of an event: a change's number"
        raise bad_parameter("Last-Event-ID", f"{text!r} is none", allowed, "Last-Event-ID: 812")
    return int(text)


def _counter(here: Service, view: str) -> Any:
    def closed(slow: bool) -> None:
        if slow:
            here.metrics.dropped_readers.labels(view).inc()

    return closed


class _Streaming(Response):
    """Lets a change stream answer in the place of a response."""

    def __init__(self, stream: ChangeStream) -> None:
        super().__init__()
        self._stream = stream

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._stream(scope, receive, send)
