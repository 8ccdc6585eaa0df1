"""GET /views/{view}/objects, /objects/{key}, /dominating: single objects, the crowd, and the strongest."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import orjson
from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from query import openapi
from query.explain import explain
from query.followed import FollowedView
from query.gate import Deadline
from query.problems import not_found
from query.routes.common import JSON, Here, MinOffset, Service, ViewName, only, stamped
from query.strongest import strongest

router = APIRouter(tags=["objects"])
_INTERVALS = 100


@router.get("/views/{view}/objects", summary="A sample of the crowd, or one object", responses=openapi.SAMPLE)
async def crowd(
    request: Request,
    here: Here,
    view: ViewName,
    key: Annotated[str | None, Query(description="Explain this object, as /objects/{key} does: for keys that no path can hold, such as ..")] = None,  # noqa: E501
    sample: Annotated[int, Query(ge=1, le=20_000, description="Objects to draw, at most")] = 2000,
    members: Annotated[bool, Query(description="Whether members may be among them")] = False,
    min_offset: MinOffset = None,
) -> Response:  # fmt: skip
    """Live objects drawn at random: what the members stand out from."""
    if key is not None:
        only(request, "key", "min_offset")
        return await _explained(here, view, key, min_offset)
    only(request, "sample", "members", "min_offset")
    followed = here.view(view)
    await here.state(followed, min_offset)
    body = await here.gate.run(here.gate.deadline(), lambda: _crowd(followed, sample, members))
    return Response(body, media_type=JSON)


def _crowd(view: FollowedView, sample: int, members: bool) -> bytes:
    with view.table.lock:
        state = view.table.state
        hidden = set() if members else view.table.members.copy()
    assert state is not None
    ids = state.index.sample(sample, np.random.default_rng(state.stamp.offset + 1)).tolist()
    records = view.table.objects.records(ids)
    fragments = [view.encoder.member(record) for record in records if record[0] not in hidden]
    head = view.encoder.head(state.stamp, count=len(fragments), of=state.objects)
    return head[:-1] + b',"objects":[' + b",".join(fragments) + b"]}"


@router.get("/views/{view}/objects/{key:path}", summary="One object, explained", responses=openapi.OBJECT)
async def one(
    request: Request,
    here: Here,
    view: ViewName,
    key: Annotated[str, Path(description="The object's id")],
    min_offset: MinOffset = None,
) -> Response:
    """The record, member or not; who dominates it and by how much; its layer; what would make it a member; history."""
    only(request, "min_offset")
    return await _explained(here, view, key, min_offset)


async def _explained(here: Service, view: str, key: str, min_offset: int | None) -> Response:
    followed = here.view(view)
    await here.state(followed, min_offset)
    deadline = here.gate.deadline()
    return await here.gate.run(deadline, lambda: _one(followed, key, deadline))


def _one(view: FollowedView, key: str, deadline: Deadline) -> Response:
    with view.table.lock:
        state, record = view.table.state, view.table.objects.get(key)
    assert state is not None
    published, history = view.intervals(key, state, _INTERVALS)
    if record is None:
        shown = orjson.dumps(key).decode()
        detail = f"{shown} is not in the view at offset {state.stamp.offset}"
        raise not_found(
            "object", detail, published=published, history=history,
            **{**state.stamp.fields(), "seq": view.seq(state)},
        )  # fmt: skip
    explanation: dict[str, Any] = explain(view.table, state, record, view.encoder, deadline)
    return stamped(view, state, **explanation, published=published, history=history)


@router.get("/views/{view}/dominating", summary="Who dominates the most", responses=openapi.DOMINATING)
async def dominating(
    request: Request,
    here: Here,
    view: ViewName,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many of them")] = 10,
    min_offset: MinOffset = None,
) -> Response:
    """The objects that dominate the most others, members or not, best first."""
    only(request, "limit", "min_offset")
    followed = here.view(view)
    state = await here.state(followed, min_offset)
    deadline = here.gate.deadline()
    body = await here.gate.run(deadline, lambda: strongest(followed.table, state, limit, followed.encoder, deadline))
    return Response(body, media_type=JSON)
