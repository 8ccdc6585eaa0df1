"""GET /views, /views/{view}: what there is."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from query import openapi
from query.routes.common import Here, ViewName, answer, only

router = APIRouter(tags=["views"])


@router.get("/views", summary="Every view", responses=openapi.VIEWS)
async def views(request: Request, here: Here) -> Response:
    """Definition, sizes and lag of every view."""
    only(request)
    return answer({"views": [here.views[name].summary() for name in sorted(here.views)]})


@router.get("/views/{view}", summary="One view", responses=openapi.VIEW)
async def view(request: Request, view: ViewName, here: Here) -> Response:
    """Definition, sizes and lag."""
    only(request)
    return answer(here.view(view).summary())
