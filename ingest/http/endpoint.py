"""POST /views/{view}/updates: reads, checks, sends, waits for the broker, answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi import Request, Response

from ingest.check import Checker, Refused, wall_clock
from ingest.delivery import Receipt
from ingest.http.body import declared_size, drain, read_body
from ingest.http.gate import Gate
from ingest.http.parse import Parsed, parse
from ingest.http.problems import Problem
from ingest.http.sender import Sender
from skyline.runtime.metrics import Metrics
from skyline.view import View

SOURCE: Final = "http"
PARTITION: Final = 0
_SHOWN: Final = 1000
"""Errors that an answer lists; a client that makes more mistakes learns nothing from the rest."""

Errors = dict[int, dict[str, Any]]
"""What is wrong with each update that was not written, by its index in the request."""


@dataclass(frozen=True, slots=True)
class Limits:
    body: int
    batch: int


class UpdatesEndpoint:
    """One for all views."""

    def __init__(
        self, views: Mapping[str, View], checkers: Mapping[str, Checker], gate: Gate, sender: Sender, limits: Limits,
        metrics: Metrics,
    ) -> None:  # fmt: skip
        self._views, self._checkers, self._gate, self._sender = views, checkers, gate, sender
        self._limits, self._metrics = limits, metrics

    async def answer(self, view: str, request: Request, strict: bool) -> Response:
        started = time.monotonic()
        label = view if view in self._views else ""  # what strangers ask for is no label
        try:
            response = await self._take(view, request, strict)
            self._metrics.ingest_seconds.labels(label).observe(time.monotonic() - started)
        except Problem as problem:
            await drain(request, self._limits.body)
            response = problem.response()
        self._metrics.ingest_requests.labels(label, str(response.status_code)).inc()
        return response

    async def _take(self, name: str, request: Request, strict: bool) -> Response:
        view = self._views.get(name)
        if view is None:
            known = ", ".join(sorted(self._views))
            raise Problem(HTTPStatus.NOT_FOUND, "no_such_view", f"there is no view {name!r}; defined are: {known}")
        with self._gate.body(declared_size(request, self._limits.body)) as settle:
            body = await read_body(request, self._limits.body)
            settle(len(body))
            media_type = request.headers.get("content-type", "")
            parsed = parse(body, media_type, self._limits.batch, wall_clock())
            good, refused = self._checkers[name].split(parsed.batch)
            for row in refused:
                self._metrics.refused.labels(name, SOURCE, row.why.reason).inc()
            if refused and (strict or not len(good)):
                raise _all_refused(parsed, refused)
            with self._gate.under_way(len(good)):
                receipt = await self._sender.send(view.topic("updates"), good)
        self._metrics.sent.labels(name, SOURCE).inc(receipt.count - len(receipt.failures))
        return _answer(view, parsed, refused, receipt)


def _answer(view: View, parsed: Parsed, refused: list[Refused], receipt: Receipt) -> Response:
    """Offsets in the order of the request, null for what was not written; `errors` says why."""
    errors = _refusals(parsed, refused)
    sent = [index for index in range(len(parsed.batch)) if index not in errors]
    offsets: list[int | None] = [None] * len(parsed.batch)
    for index, offset in zip(sent, receipt.offsets, strict=True):
        offsets[index] = offset
    for place, failure in receipt.failures.items():
        detail = f"not acknowledged, so it may or may not be written: {failure.str()}"
        errors[sent[place]] = _error(parsed, sent[place], "not_written", detail)
    written = receipt.count - len(receipt.failures)
    if receipt.failure is not None and not written:
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE, "not_written", f"{view.topic('updates')}: {receipt.failure.str()}",
            {"Retry-After": "1"}, errors=_listed(errors),
        )  # fmt: skip
    document: dict[str, Any] = {"topic": view.topic("updates"), "partition": PARTITION, "written": written}
    document["offsets"] = offsets
    if errors:
        document["errors"] = _listed(errors)
    status = HTTPStatus.MULTI_STATUS if errors else HTTPStatus.OK
    return Response(orjson.dumps(document), status, media_type="application/json")


def _all_refused(parsed: Parsed, refused: list[Refused]) -> Problem:
    detail = refused[0].why.message
    if len(parsed.batch) > 1:
        detail = f"{len(refused)} of {len(parsed.batch)} updates are refused, the first: {detail}"
    errors = _listed(_refusals(parsed, refused))
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "refused", detail, errors=errors)


def _refusals(parsed: Parsed, refused: list[Refused]) -> Errors:
    return {row.place: _error(parsed, row.place, row.why.reason, row.why.message) for row in refused}


def _error(parsed: Parsed, index: int, reason: str, detail: str) -> dict[str, Any]:
    line = {} if parsed.lines is None else {"line": parsed.lines[index]}
    return {"index": index, **line, "reason": reason, "detail": detail}


def _listed(errors: Errors) -> list[dict[str, Any]]:
    return [errors[index] for index in sorted(errors)[:_SHOWN]]
