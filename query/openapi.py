"""What the OpenAPI document says about answers: one example of each kind."""

from __future__ import annotations

from typing import Any, Final

Responses = dict[int | str, dict[str, Any]]

_STAMP: Final = {"view": "hotels", "offset": 5531, "clock": 1763450000123, "seq": 812}
_MEMBER: Final = {
    "key": "h7", "point": {"price": 80.0, "distance": 1.2, "rating": 4.1}, "group": {"city": "Paris"},
    "carry": {"name": "Hôtel du Nord"},
}  # fmt: skip
_CHANGE: Final = {
    "seq": 812, "op": "enter", "key": "h7", "point": _MEMBER["point"], "group": _MEMBER["group"],
    "carry": _MEMBER["carry"], "reason": "promoted", "by": "h2", "at": 1763450000123, "offset": 5531, "partition": 0,
    "size": 14,
}  # fmt: skip
_PROBLEM: Final = {
    "type": "/problems/bad-parameter", "title": "A parameter is wrong", "status": 400,
    "detail": "where: 'price<=cheap' is no comparison", "parameter": "where",
    "allowed": "dimension, one of <= >= < > =, number; dimensions of hotels: price, distance, rating",
    "example": "where=price<=100", "instance": "/views/hotels/skyline",
}  # fmt: skip
_SUMMARY: Final = {
    "view": "hotels", "ready": True, "dimensions": {"price": "min", "distance": "min", "rating": "max"},
    "group_by": ["city"], "carry": ["name"], "window": None, "offset": 5531, "clock": 1763450000123, "seq": 812,
    "objects": 5000, "waiting": 3, "members": 14, "groups": 2, "lag": {"updates": 0, "changes": 0}, "begins": 0,
    "history": {"first": 1, "last": 812, "oldest": 1763440000000, "whole": True}, "readers": 2,
}  # fmt: skip
_INTERVAL: Final = {
    "from": 1763450000123, "until": None, "entered": {"seq": 812, "reason": "promoted"}, "left": None
}  # fmt: skip


def _answers(example: dict[str, Any], **other: dict[str, Any]) -> Responses:
    document = {"description": "The answer", "content": {"application/json": {"example": example}}}
    for media, content in other.items():
        document["content"][_MEDIA[media]] = content  # type: ignore[index]
    problem = {"content": {"application/problem+json": {"schema": _PROBLEM_SCHEMA, "example": _PROBLEM}}}
    return {200: document} | {
        status: {"description": why, **problem} for status, why in _STATUSES.items()
    }  # fmt: skip


_MEDIA: Final = {"ndjson": "application/x-ndjson", "events": "text/event-stream"}
_STATUSES: Final[dict[int | str, str]] = {
    400: "A parameter is wrong, or two do not go together",
    404: "There is no such view or object",
    410: "That time is no longer held",
    412: "min_offset was not reached in time",
    413: "The answer is too large",
    503: "Starting, too many requests at once, or the answer takes too long",
}
_PROBLEM_SCHEMA: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
        "detail": {"type": "string"}, "instance": {"type": "string"}, "parameter": {"type": "string"},
        "example": {"type": "string"},
    },
}  # fmt: skip

VIEWS: Final = _answers({"views": [_SUMMARY]})
VIEW: Final = _answers(_SUMMARY)
SKYLINE: Final = _answers(
    {**_STAMP, "count": 1, "complete": True, "members": [_MEMBER]}, ndjson={"schema": {"type": "string"}}
)
SAMPLE: Final = _answers({**_STAMP, "count": 1, "of": 5000, "objects": [_MEMBER]})
OBJECT: Final = _answers(
    {
        **_STAMP, **_MEMBER, "valid_from": None, "valid_until": None, "state": "dominated", "member": False,
        "dominated_by": {
            "count": 1,
            "members": [{**_MEMBER, "better_by": {"price": 12.0, "distance": 0.0, "rating": 0.3}}],
        },
        "layer": 2, "deeper_than": None,
        "to_enter": [{"dimension": "price", "to": 80.0, "past": True, "change": -12.0}], "published": 812,
        "history": [_INTERVAL],
    }
)  # fmt: skip
DOMINATING: Final = _answers({**_STAMP, "count": 1, "objects": [{**_MEMBER, "dominates": 4711}]})
CHANGES: Final = _answers(
    {**_STAMP, "first": 1, "last": 812, "count": 1, "next": 812, "changes": [_CHANGE]},
    events={"schema": {"type": "string"}},
)
HISTORY: Final = _answers({**_STAMP, "key": "h7", "whole": True, "published": 812, "intervals": [_INTERVAL]})
SIZES: Final = _answers({**_STAMP, "count": 1, "sizes": [{"at": 1763450000123, "size": 14}]})
