"""Everything that a request can be told when it cannot be answered, as RFC 9457 problem documents."""

from __future__ import annotations

from typing import Any, Final

import orjson
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

MEDIA_TYPE: Final = "application/problem+json"
_LONGEST: Final = 300
"""Letters of what is repeated of a request."""


class Problem(Exception):
    """What was wrong, what is allowed, an example."""

    def __init__(
        self, status: int, kind: str, title: str, detail: str, headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers
        self.document = {"type": f"/problems/{kind}", "title": title, "status": status, "detail": detail, **more}

    def response(self, instance: str) -> Response:
        body = orjson.dumps({**self.document, "instance": instance})
        return Response(body, self.status, self.headers, MEDIA_TYPE)


def bad_parameter(name: str, detail: str, allowed: str, example: str) -> Problem:
    """A parameter that has no meaning here."""
    if len(detail) > _LONGEST:  # it repeats what was given
        detail = detail[: _LONGEST // 2] + " … " + detail[-_LONGEST // 2 :]
    name = name[:_LONGEST]
    return Problem(
        400, "bad-parameter", "A parameter is wrong", f"{name}: {detail}", parameter=name, allowed=allowed,
        example=example,
    )  # fmt: skip


def not_found(what: str, detail: str, **more: Any) -> Problem:
    return Problem(404, "not-found", f"There is no such {what}", detail, **more)


def too_busy(detail: str) -> Problem:
    return Problem(503, "too-busy", "Too many requests at once", detail, headers={"Retry-After": "1"})


def too_slow(seconds: float) -> Problem:
    return Problem(
        503, "too-slow", "The answer takes too long",
        f"no answer within {seconds:g} s: narrow the question (where, group, a smaller k or limit), "
        "or ask for application/x-ndjson, which gives what is found on the way",
        headers={"Retry-After": "5"},
    )  # fmt: skip


def too_large(most: int) -> Problem:
    return Problem(
        413, "too-large", "The answer is too large",
        f"more than {most} members: give limit (at most {most}), or ask for application/x-ndjson",
        allowed=f"answers of up to {most} members", example=f"limit={min(most, 1000)}",
    )  # fmt: skip


async def answer_problem(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return problem.response(request.url.path)


async def answer_http_error(request: Request, error: Exception) -> Response:
    """Paths and methods that do not exist."""
    assert isinstance(error, HTTPException)
    problem = Problem(
        error.status_code, "no-such-route", str(error.detail), f"{request.method} {request.url.path}: {error.detail}",
        headers=dict(error.headers) if error.headers else None,
        allowed="GET /views, and what /openapi.json lists", example="/views",
    )  # fmt: skip
    return problem.response(request.url.path)


async def answer_failure(request: Request, _error: Exception) -> Response:
    """A mistake of ours; the log has it."""
    problem = Problem(500, "failure", "The service made a mistake", "see the service's log; please report it")
    return problem.response(request.url.path)


async def answer_invalid(request: Request, error: Exception) -> Response:
    """Parameters that are missing, not of the right type, or out of range."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    name = str(first["loc"][-1])
    given = first.get("input")
    detail = "it must be given" if given is None else f"{str(given)[:60]!r} is out of range or not of its kind"
    return bad_parameter(name, detail, _allowed(first), f"{name}={_EXAMPLES.get(name, '10')}").response(
        request.url.path
    )


def _allowed(error: dict[str, Any]) -> str:
    bounds = error.get("ctx", {})
    if "ge" in bounds:
        return f"from {bounds['ge']} on"
    if "le" in bounds:
        return f"up to {bounds['le']}"
    return _KINDS.get(error["type"], "text")


_KINDS: Final = {"int_parsing": "a whole number", "int_parsing_size": "a whole number", "bool_parsing": "true or false"}
_EXAMPLES: Final = {
    "k": "3", "enumerate": "true", "approximate": "20", "min_offset": "5531", "sample": "2000", "members": "true",
    "points": "500", "after": "812", "key": "h7",
}  # fmt: skip
