"""The HTTP application: its routes, and problem documents for everything that goes wrong."""

# no `from __future__ import annotations`: FastAPI evaluates the annotations of a route, which name its surroundings
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.exceptions import HTTPException

from ingest.http.endpoint import UpdatesEndpoint
from ingest.http.openapi import RESPONSES, request_body
from ingest.http.problems import on_bad_parameter, on_fault, on_http_error
from skyline.runtime.health import Probe
from skyline.view import View

_UPDATES: Final = "/views/{view}/updates"
_DESCRIPTION: Final = """\
Updates of skyline views, over HTTP. A request is answered once the broker has written its updates, with their offsets.

Repeating a request is safe for whole objects, deletions and ticks: the view ends in the same state. A modification
such as `add` takes effect once for every time that it is written.
"""


class _App(FastAPI):
    """Describes bodies itself: FastAPI leaves nulls out of what it is given, and in an example null is a deletion."""

    def __init__(self, views: Mapping[str, View]) -> None:
        super().__init__(title="Skyline ingest", version="1", description=_DESCRIPTION, docs_url=None, redoc_url=None)
        self._body = request_body(views)

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        document["paths"][_UPDATES]["post"]["requestBody"] = self._body
        return document


def make_app(views: Mapping[str, View], updates: UpdatesEndpoint) -> FastAPI:
    """Without the probes: `add_probes` has those."""
    app = _App(views)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(RequestValidationError, on_bad_parameter)
    app.add_exception_handler(Exception, on_fault)

    @app.post(_UPDATES, summary="Write one update or many", response_class=Response, responses=RESPONSES)
    async def post_updates(
        request: Request,
        view: Annotated[str, Path(json_schema_extra={"enum": sorted(views)})],
        strict: Annotated[bool, Query(description="write nothing if any update is refused")] = False,
    ) -> Response:
        return await updates.answer(view, request, strict)

    return app


def add_probes(app: FastAPI, registry: CollectorRegistry, alive: Probe, ready: Probe) -> None:
    """/metrics, /healthz and /readyz, on the same port."""

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> Response:
        return _answer(alive)

    @app.get("/readyz", include_in_schema=False)
    async def readyz() -> Response:
        return _answer(ready)


def _answer(probe: Probe) -> Response:
    trouble = probe()
    status = HTTPStatus.OK if trouble is None else HTTPStatus.SERVICE_UNAVAILABLE
    return PlainTextResponse(f"{trouble or 'ok'}\n", status)
