"""Errors as problem documents (RFC 9457): one JSON shape for everything that is not written."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

MEDIA_TYPE: Final = "application/problem+json"
KINDS: Final = {
    "bad_request": "the request cannot be read",
    "no_such_view": "no view of that name takes updates here",
    "not_found": "there is nothing at this address",
    "method_not_allowed": "the address does not take this method",
    "too_slow": "the body did not arrive in time",
    "too_large": "the body, or the number of updates in it, is beyond the limit",
    "unsupported_media_type": "the body is neither JSON nor JSON Lines",
    "refused": "no update was written, because updates break the view's rules: `errors` says which and why",
    "busy": "too much is under way to the broker, or it lags: come back after Retry-After seconds",
    "not_written": "the broker did not acknowledge: the updates may or may not be written; repeat the request",
    "internal": "a fault of the service, which its log tells of",
}
"""Every kind of problem; `type` is urn:skyline:problem:KIND."""


class Problem(Exception):
    """An answer that is a problem document. `more` are further members of it."""

    def __init__(
        self, status: HTTPStatus, kind: str, detail: str, headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail = status, kind, detail
        self.headers, self.more = headers, more

    def response(self) -> Response:
        document = {
            "type": f"urn:skyline:problem:{self.kind}",
            "title": KINDS[self.kind],
            "status": int(self.status),
            "detail": self.detail,
            **self.more,
        }
        return Response(orjson.dumps(document), self.status, self.headers, MEDIA_TYPE)


async def on_http_error(_request: Request, error: Exception) -> Response:
    """Starlette's own errors: unknown addresses and methods."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    if status == HTTPStatus.NOT_FOUND:
        detail = "POST updates to /views/VIEW/updates; /openapi.json describes it; /metrics, /healthz, /readyz are here"
        return Problem(status, "not_found", detail).response()
    kind = "method_not_allowed" if status == HTTPStatus.METHOD_NOT_ALLOWED else "bad_request"
    return Problem(status, kind, str(error.detail), dict(error.headers or {})).response()


async def on_bad_parameter(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    detail = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return Problem(HTTPStatus.BAD_REQUEST, "bad_request", detail).response()


async def on_fault(_request: Request, _error: Exception) -> Response:
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "unexpected: see the service's log").response()
