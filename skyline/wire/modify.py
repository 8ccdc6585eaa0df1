"""What a modification makes of the object that is there (the 2014 paper's bulk modifications, and patch)."""

from __future__ import annotations

import math
from typing import Any, Final

import orjson

from skyline.view import NEVER, View
from skyline.wire.fields import jsonable, number
from skyline.wire.rejects import Rejected
from skyline.wire.updates import ALWAYS, Modification, Upsert, read_fields

MAX_EXTRAS_BYTES: Final = 8 * 2**20
"""Group and carried fields of an object, as JSON. Those of one update are smaller, however they are spelt; but patches,
each of which may bring another field, could grow an object until its changes fit no topic."""


def modified(view: View, current: Upsert, change: Modification) -> Upsert | Rejected:
    """The object's new record. `add` and `multiply` do as they say, `average` takes the mean of old and given."""
    names = view.dimensions.names
    if change.op == "patch":
        return _patched(view, current, change)
    point = list(current.point)
    for axis, name in enumerate(names):
        if name not in change.fields:
            continue
        given = number(name, change.fields[name])
        assert not isinstance(given, Rejected)  # checked when the record was read
        point[axis] = _combined(change.op, point[axis], given)
        if math.isnan(point[axis]):
            return Rejected("bad_value", f"{name}: {change.op} of {current.point[axis]} and {given} is not a number")
    return Upsert(tuple(point), current.valid_from, current.valid_until, current.group, current.extras)


def _combined(op: str, old: float, given: float) -> float:
    if op == "add":
        return old + given + 0.0
    if op == "multiply":
        return old * given + 0.0
    # halves first: the sum of two large values would overflow
    return old / 2 + given / 2 + 0.0


def _patched(view: View, current: Upsert, change: Modification) -> Upsert | Rejected:
    extras: dict[str, Any] = orjson.loads(b"{" + current.extras[1:] + b"}") if current.extras else {}
    point = map(jsonable, current.point)
    fields: dict[str, Any] = dict(zip(view.dimensions.names, point, strict=True))
    fields.update(extras.get("group", {}))
    fields.update(extras.get("carry", {}))
    if current.valid_from != ALWAYS:
        fields["valid_from"] = current.valid_from
    if current.valid_until != NEVER:
        fields["valid_until"] = current.valid_until
    fields.update(change.fields)
    patched = read_fields(view, fields)
    assert isinstance(patched, (Upsert, Rejected))  # without $op there is no other outcome
    if isinstance(patched, Upsert) and len(patched.extras) > MAX_EXTRAS_BYTES:
        size = len(patched.extras)
        return Rejected(
            "too_large", f"group and carried fields would have {size} bytes together, at most {MAX_EXTRAS_BYTES} fit"
        )
    return patched
