"""What /openapi.json says about updates: schemas and examples made from the views that are served."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from ingest.http.parse import JSON, LINES
from ingest.http.problems import MEDIA_TYPE
from skyline.view import View
from skyline.wire.updates import MAX_KEY_BYTES, MODIFICATIONS, OP, TICK

_EXAMPLE_TIME: Final = "2026-11-18T06:41:00Z"
_NUMBER: Final = {"oneOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]}
_INSTANT: Final = {
    "description": "milliseconds since 1970, or ISO 8601",
    "oneOf": [{"type": "integer"}, {"type": "string", "format": "date-time"}],
}

_ERRORS: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["index", "reason", "detail"],
        "properties": {
            "index": {"type": "integer", "description": "which update of the request, from 0"},
            "line": {"type": "integer", "description": "on which line of the body it stands, from 1"},
            "reason": {"type": "string", "examples": ["missing_field"]},
            "detail": {"type": "string", "examples": ["dimension price is missing"]},
        },
    },
}
_PROBLEM: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:skyline:problem:refused"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": _ERRORS,
        "limit": {"type": "integer", "description": "the limit that was passed"},
    },
}
_WRITTEN: Final = {
    "type": "object",
    "required": ["topic", "partition", "written", "offsets"],
    "properties": {
        "topic": {"type": "string"},
        "partition": {"type": "integer"},
        "written": {"type": "integer", "description": "how many updates the broker has written"},
        "offsets": {
            "type": "array",
            "items": {"type": ["integer", "null"]},
            "description": "where each update was written, in the request's order; null where it was not",
        },
        "errors": _ERRORS,
    },
}

RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "All updates are written", "content": {JSON: {"schema": _WRITTEN}}},
    207: {"description": "Some are written, others are in `errors`", "content": {JSON: {"schema": _WRITTEN}}},
    **{
        status: {"description": meaning, "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
        for status, meaning in {
            400: "The body is not JSON, or ended too early",
            404: "There is no such view",
            408: "The body did not arrive in time",
            413: "The body, or the number of updates in it, is beyond the limit",
            415: "The body is neither JSON nor JSON Lines, or is encoded",
            422: "No update was written: all (or, with `strict`, some) break the view's rules",
            429: "The broker lags, or too much is under way: come back after Retry-After seconds",
            503: "The broker did not acknowledge any update",
        }.items()
    },
}


def request_body(views: Mapping[str, View]) -> dict[str, Any]:
    """The requestBody of an OpenAPI operation."""
    update = update_schema(views)
    name, view = next(iter(views.items()))
    several: list[Any] = [change for _, change in _examples(view)]
    examples: dict[str, Any] = {
        f"{name}: {summary}": {"summary": f"{summary} ({name})", "value": change}
        for name, view in views.items()
        for summary, change in _examples(view)
    }
    examples[f"{name}: many at once"] = {"summary": f"many at once ({name})", "value": several}
    lines = "".join(orjson.dumps(change).decode() + "\n" for change in several)
    return {
        "required": True,
        "content": {
            JSON: {"schema": {"oneOf": [update, {"type": "array", "items": update}]}, "examples": examples},
            LINES[0]: {"schema": {"type": "string"}, "examples": {"lines": {"summary": "one a line", "value": lines}}},
        },
    }


def update_schema(views: Mapping[str, View]) -> dict[str, Any]:
    """One update: key, value and event time."""
    values = [_value_schema(view) for view in views.values()]
    return {
        "type": "object",
        "required": ["key"] if all(view.window is None for view in views.values()) else [],
        "additionalProperties": False,
        "properties": {
            "key": {
                "description": f"the object's id; {TICK} only passes time; elements of window views need none",
                "oneOf": [{"type": "string", "minLength": 1, "maxLength": MAX_KEY_BYTES}, {"type": "integer"}],
            },
            "value": {"description": "the object's record; null deletes it", "oneOf": [*values, {"type": "null"}]},
            "at": {**_INSTANT, "description": "event time; the time of the request where it is left out"},
        },
    }


def _value_schema(view: View) -> dict[str, Any]:
    properties: dict[str, Any] = {
        name: {**_NUMBER, "description": f"{direction}imised"}
        for name, direction in zip(view.dimensions.names, view.dimensions.directions, strict=True)
    }
    properties |= {name: {"type": ["string", "integer", "boolean"], "description": "group"} for name in view.group_by}
    properties |= {name: {"description": "carried"} for name in view.carry}
    properties |= {"valid_from": _INSTANT, "valid_until": _INSTANT}
    if view.window is None:
        properties[OP] = {"enum": list(MODIFICATIONS), "description": "modifies the object that is there"}
    return {"type": "object", "title": view.name, "properties": properties}


def _examples(view: View) -> list[tuple[str, dict[str, Any]]]:
    """One of each kind that the view takes."""
    fields: dict[str, Any] = {name: 10.5 * place for place, name in enumerate(view.dimensions.names, start=1)}
    fields |= {name: f"{name}-1" for name in (*view.group_by, *view.carry)}
    if view.window is not None:
        return [("an element", {"value": fields, "at": _EXAMPLE_TIME})]
    first = view.dimensions.names[0]
    return [
        ("an object", {"key": "a", "value": fields}),
        ("a modification", {"key": "a", "value": {OP: "add", first: -0.5}}),
        ("a deletion", {"key": "a", "value": None}),
        ("a tick", {"key": TICK, "value": None}),
    ]
