"""Reads a request's body, within its limits of size and time."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final

from fastapi import Request
from starlette.requests import ClientDisconnect

from ingest.http.problems import Problem

SECONDS: Final = 30.0
"""A body must have arrived after this long."""

_DRAINED: Final = 4
"""So many times the largest body are read and dropped, so that a client that sends first sees the answer too."""


def declared_size(request: Request, limit: int) -> int:
    """Bytes that the body will have, or may have at most. Raises the 413 problem."""
    text = request.headers.get("content-length")
    if text is None:
        return limit
    size = int(text)  # the server has refused what is no number
    if size > limit:
        raise _too_large(f"the body has {size} bytes", limit)
    return size


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body. Raises problems 400, 408, 413 and 415."""
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding != "identity":
        detail = f"Content-Encoding {encoding} is not understood: send the body as it is"
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    raise _too_large("the body is larger", limit)
                parts.append(part)
    except TimeoutError:
        detail = f"only {size} bytes of the body arrived within {SECONDS:.0f} s"
        raise Problem(HTTPStatus.REQUEST_TIMEOUT, "too_slow", detail, {"Connection": "close"}) from None
    except ClientDisconnect:
        raise Problem(HTTPStatus.BAD_REQUEST, "bad_request", "the connection ended within the body") from None
    return b"".join(parts)


async def drain(request: Request, limit: int) -> None:
    """Drops the rest of a body that was refused, unless the client waits for leave to send it."""
    if request.headers.get("expect", "").lower() == "100-continue":
        return
    size = 0
    try:
        async with asyncio.timeout(SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > _DRAINED * limit:
                    return
    except (TimeoutError, ClientDisconnect, RuntimeError):  # RuntimeError: all of it was read before
        return


def _too_large(what: str, limit: int) -> Problem:
    detail = f"{what}, at most {limit} are allowed: send fewer updates at a time"
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", detail, limit=limit)
