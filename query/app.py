"""The application: routes, problem documents, metrics of requests."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from query import page
from query.problems import Problem, answer_failure, answer_http_error, answer_invalid, answer_problem
from query.routes import changes, objects, operations, skyline, views
from query.routes.common import Service
from skyline.runtime.metrics import Metrics


def create_app(service: Service) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        for view in service.views.values():
            view.feed.open()
        yield
        service.gate.close()

    app = FastAPI(
        title="skyline views",
        version="1",
        summary="Ask a skyline view anything, now or in the past, and follow its changes",
        lifespan=lifespan,
        docs_url=None,  # these pages load scripts from the network
        redoc_url=None,
        redirect_slashes=False,  # to whatever host the request named
        exception_handlers={
            Problem: answer_problem,
            HTTPException: answer_http_error,
            RequestValidationError: answer_invalid,
            Exception: answer_failure,
        },
    )
    app.state.service = service
    for part in (views, skyline, objects, changes, operations, page):
        app.include_router(part.router)
    app.add_middleware(Measured, metrics=service.metrics, views=frozenset(service.views))
    return app


class Measured:
    """Counts and times every request, by view, route and status."""

    def __init__(self, app: ASGIApp, metrics: Metrics, views: frozenset[str]) -> None:
        self._app, self._metrics, self._views = app, metrics, views

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._count(scope, message["status"], time.perf_counter() - began)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            if not started:  # what answers a mistake of ours stands around this
                self._count(scope, 500, time.perf_counter() - began)
            raise

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        """Unknown routes and views share one label each: names that clients make up must not become series."""
        route = getattr(scope.get("route"), "path", "none")
        asked = scope.get("path_params", {}).get("view", "")
        view = asked if asked in self._views else ""
        self._metrics.requests.labels(view, route, str(status)).inc()
        self._metrics.request_seconds.labels(view, route).observe(seconds)
