"""A request's body as a batch of updates.

An update is `{"key": ..., "value": {...} or null, "at": ...}`: the record's key, its value as docs/wire-format.md has
it, and its event time, which is the time of the request where it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import orjson

from ingest.batch import Batch
from ingest.http.problems import Problem
from ingest.parts import event_time, key_bytes
from skyline.wire.fields import shown
from skyline.wire.rejects import Rejected
from skyline.wire.updates import TICK

JSON: Final = "application/json"
LINES: Final = ("application/x-ndjson", "application/jsonl", "application/x-jsonlines", "application/jsonlines")
ACCEPTED: Final = ", ".join((JSON, *LINES))
MEMBERS: Final = ("key", "value", "at")

_Update = tuple[bytes | None, bytes | None, int]


@dataclass(frozen=True, slots=True)
class Parsed:
    """The updates of one request. `lines` tells on which line each stands, where the body has lines."""

    batch: Batch
    lines: Sequence[int] | None


def parse(body: bytes, media_type: str, limit: int, now: int) -> Parsed:
    """At most `limit` updates; `now` is the event time of those without. Raises problems 400, 413 and 415.

    About 2 µs an update. What is wrong with a single update is a problem of the batch.
    """
    kind = media_type.partition(";")[0].strip().lower()
    if kind in LINES:
        return _parse_lines(body, limit, now)
    if kind != JSON:
        # strictly, since a web page can make browsers send other types here, but neither of these without asking first
        detail = f"send the body with Content-Type: {JSON} or {LINES[0]}, got {kind or 'none'}"
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail, {"Accept-Post": ACCEPTED})
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        hint = f" (JSON Lines need Content-Type: {LINES[0]})" if b"\n{" in body else ""
        raise Problem(HTTPStatus.BAD_REQUEST, "bad_request", f"the body is not JSON: {error}{hint}") from None
    items = document if isinstance(document, list) else [document]
    _check_count(len(items), limit)
    return Parsed(_batch(items, now), None)


def _parse_lines(body: bytes, limit: int, now: int) -> Parsed:
    numbered = [(number, line) for number, line in enumerate(body.split(b"\n"), start=1) if line.strip()]
    _check_count(len(numbered), limit)
    return Parsed(_batch([_line(line) for _, line in numbered], now), [number for number, _ in numbered])


def _line(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return Rejected("bad_json", f"the line is not JSON: {error}")


def _check_count(count: int, limit: int) -> None:
    if count > limit:
        detail = f"the request has {count} updates, at most {limit} are allowed: send them in several"
        raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", detail, limit=limit)


def _batch(items: Sequence[Any], now: int) -> Batch:
    updates = [_update(item, now) for item in items]
    problems = {index: update for index, update in enumerate(updates) if isinstance(update, Rejected)}
    nothing = (None, None, now)
    columns = zip(*[nothing if isinstance(update, Rejected) else update for update in updates], strict=True)
    keys, values, timestamps = columns if updates else ((), (), ())
    return Batch(keys, values, timestamps, range(len(updates)), problems)


def _update(item: Any, now: int) -> _Update | Rejected:
    if isinstance(item, Rejected):
        return item
    if not isinstance(item, dict):
        return Rejected("not_an_object", f"an update is an object with key and value, got {shown(item)}")
    if not item.keys() <= set(MEMBERS):
        unknown = next(name for name in item if name not in MEMBERS)
        return Rejected("bad_value", f"an update has key, value and at; {shown(unknown)} belongs inside value")
    key = key_bytes("key", item.get("key"))
    if isinstance(key, Rejected):
        return key
    if "value" not in item and key != TICK.encode():
        return Rejected("missing_field", "value is missing: an object with the view's fields, or null to delete")
    at = now if item.get("at") is None else event_time("at", item["at"])
    if isinstance(at, Rejected):
        return at
    value = item.get("value")
    try:
        return key, None if value is None else orjson.dumps(value), at
    except orjson.JSONEncodeError as error:
        return Rejected("bad_value", f"the value cannot be written as JSON: {error}")
