"""GET /healthz, /readyz, /metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import PlainTextResponse, Response

from query.routes.common import Here

router = APIRouter(tags=["operations"])


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", summary="Whether the service works", response_class=PlainTextResponse)
async def healthz(here: Here) -> Response:
    """200 and "ok", or 503 and what is wrong."""
    return _state([view.trouble() for view in here.views.values()])


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", summary="Whether the service has caught up", response_class=PlainTextResponse)
async def readyz(here: Here) -> Response:
    """200 and "ok", or 503 and what is missing."""
    return _state([view.unready() for view in here.views.values()])


@router.get("/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse)
async def metrics(_request: Request, here: Here) -> Response:
    """Prometheus text format."""
    for view in here.views.values():
        view.measure()
    return Response(generate_latest(here.metrics.registry), media_type=CONTENT_TYPE_LATEST)


def _state(troubles: list[str | None]) -> Response:
    trouble = next((trouble for trouble in troubles if trouble is not None), None)
    return PlainTextResponse("ok\n") if trouble is None else PlainTextResponse(trouble + "\n", 503)
