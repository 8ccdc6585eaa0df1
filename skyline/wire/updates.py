"""One update, read and written with every rule of docs/wire-format.md and a message for every mistake.

This is the reference. `decode.py` reads whole batches with a kernel that accepts plain records only, and comes
here for all others: both give the same result wherever the kernel accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from skyline.view import NEVER, View
from skyline.wire.fields import group_value, instant, jsonable, number, shown
from skyline.wire.rejects import Rejected

TICK: Final = "$tick"
MAX_KEY_BYTES: Final = 256
MAX_VALUE_BYTES: Final = 1 << 20
ALWAYS: Final = -(2**63)
"""`valid_from` of an object that is valid as soon as it arrives."""

OP: Final = "$op"
MODIFICATIONS: Final = ("add", "multiply", "average", "patch")
INTERVAL: Final = ("valid_from", "valid_until")


@dataclass(frozen=True, slots=True)
class Upsert:
    """The object's whole record.

    `group` tells groups apart: the JSON of the group fields. `extras` is the JSON of group and carried fields, ready to
    be spliced into a change.
    """

    point: tuple[float, ...]
    valid_from: int = ALWAYS
    valid_until: int = int(NEVER)
    group: str = ""
    extras: bytes = b""


@dataclass(frozen=True, slots=True)
class Delete:
    """A null value."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passes; nothing else."""


@dataclass(frozen=True, slots=True)
class Modification:
    """A change to the object that is there: `fields` are the ones given, checked but not yet applied."""

    op: str
    fields: Mapping[str, Any] = field(default_factory=dict)


Update = Upsert | Delete | Tick | Modification


def read_key(key: bytes | None) -> str | Rejected:
    """The object's id, or `$tick`."""
    if not key:
        return Rejected("bad_key", "an update needs a key: the object's id, 1 to 256 bytes of UTF-8")
    if len(key) > MAX_KEY_BYTES:
        return Rejected("bad_key", f"the key has {len(key)} bytes, at most {MAX_KEY_BYTES} are allowed")
    try:
        text = key.decode()
    except UnicodeDecodeError as error:
        return Rejected("bad_key", f"the key is not UTF-8: {error.reason} at byte {error.start}")
    if text.startswith("$") and text != TICK:
        return Rejected("bad_key", f"keys that start with $ are reserved, got {shown(text)}")
    return text


def read_update(view: View, key: bytes | None, value: bytes | None) -> tuple[str, Update] | Rejected:
    """The update that a record holds, or why it holds none. O(size of the value)."""
    text = "" if view.window is not None and not key else read_key(key)
    if isinstance(text, Rejected):
        return text
    if text == TICK:
        if value is not None:
            return Rejected("bad_key", "a tick has a null value")
        return text, Tick()
    if value is None and view.window is not None:
        return Rejected("bad_op", "a window view deletes nothing: its elements leave when the window has passed them")
    if value is None:
        return text, Delete()
    fields = read_object(value)
    if isinstance(fields, Rejected):
        return fields
    update = read_fields(view, fields)
    return update if isinstance(update, Rejected) else (text, update)


def read_object(value: bytes) -> dict[str, Any] | Rejected:
    if len(value) > MAX_VALUE_BYTES:
        return Rejected("too_large", f"the value has {len(value)} bytes, at most {MAX_VALUE_BYTES} are allowed")
    try:
        fields = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        return Rejected("bad_json", f"the value is not JSON: {error}")
    if not isinstance(fields, dict):
        return Rejected("not_an_object", f"the value must be a JSON object, got {shown(fields)}")
    return fields


def read_fields(view: View, fields: Mapping[str, Any]) -> Update | Rejected:
    """The update that these fields make; unknown fields are ignored."""
    if OP in fields:
        return _read_modification(view, fields)
    point: list[float] = []
    for name in view.dimensions.names:
        if name not in fields:
            return Rejected("missing_field", f"dimension {name} is missing")
        coordinate = number(name, fields[name])
        if isinstance(coordinate, Rejected):
            return coordinate
        point.append(coordinate)
    interval = _read_interval(view, fields)
    if isinstance(interval, Rejected):
        return interval
    groups: list[Any] = []
    for name in view.group_by:
        if name not in fields:
            return Rejected("missing_field", f"group field {name} is missing")
        value = group_value(name, fields[name])
        if isinstance(value, Rejected):
            return value
        groups.append(value)
    carried = [fields.get(name) for name in view.carry]
    try:
        group, extras = encode_extras(view, groups, carried)
    except orjson.JSONEncodeError as error:
        return Rejected("bad_value", f"group or carried fields cannot be written as JSON: {error}")
    return Upsert(tuple(point), *interval, group, extras)


def encode_extras(view: View, groups: list[Any], carried: list[Any]) -> tuple[str, bytes]:
    """(identity of the group, JSON members to splice after `point`); both empty where the view has none."""
    return join_extras(view, [orjson.dumps(value) for value in groups], [orjson.dumps(value) for value in carried])


def join_extras(view: View, groups: list[bytes], carried: list[bytes]) -> tuple[str, bytes]:
    """`encode_extras` of values that are JSON already."""
    group = b",".join(groups).decode()
    extras = b""
    if groups:
        extras = b',"group":{' + _members(view.group_by, groups) + b"}"
    if carried:
        extras += b',"carry":{' + _members(view.carry, carried) + b"}"
    return group, extras


def group_of(view: View, extras: bytes) -> str:
    """The `group` of an Upsert, from its extras."""
    if not view.group_by:
        return ""
    groups = orjson.loads(b"{" + extras[1:] + b"}")["group"]
    return encode_extras(view, list(groups.values()), [None] * len(view.carry))[0]


def write_update(fields: Mapping[str, Any] | None) -> bytes | None:
    """The value of an update record; None deletes. Infinite numbers become strings."""
    if fields is None:
        return None
    return orjson.dumps({name: jsonable(value) for name, value in fields.items()})


def _members(names: tuple[str, ...], values: list[bytes]) -> bytes:
    return b",".join(orjson.dumps(name) + b":" + value for name, value in zip(names, values, strict=True))


def _read_interval(view: View, fields: Mapping[str, Any]) -> tuple[int, int] | Rejected:
    ends = [ALWAYS, int(NEVER)]
    for position, name in enumerate(INTERVAL):
        if fields.get(name) is not None:
            if view.window is not None:
                return Rejected("bad_interval", f"{name} does not fit a window view: the window says how long it lasts")
            moment = instant(name, fields[name])
            if isinstance(moment, Rejected):
                return moment
            ends[position] = moment
    if ends[0] >= ends[1]:
        return Rejected("bad_interval", f"valid_from {ends[0]} is not before valid_until {ends[1]}")
    return ends[0], ends[1]


def _read_modification(view: View, fields: Mapping[str, Any]) -> Modification | Rejected:
    op = fields[OP]
    if op not in MODIFICATIONS:
        return Rejected("bad_op", f"$op must be one of {', '.join(MODIFICATIONS)}, got {shown(op)}")
    if view.window is not None:
        return Rejected("bad_op", f"$op {op} does not fit a window view: its elements never change")
    known = {*view.dimensions.names, *view.group_by, *view.carry, *INTERVAL}
    given = {name: value for name, value in fields.items() if name in known}
    if not given:
        return Rejected("bad_op", f"$op {op} names no field of the view")
    for name, value in given.items():
        problem = _check_given(view, op, name, value)
        if problem is not None:
            return problem
    return Modification(op, given)


def _check_given(view: View, op: str, name: str, value: Any) -> Rejected | None:
    checked: Any = None
    if name in view.dimensions.names:
        checked = number(name, value)
    elif op != "patch":
        return Rejected("bad_op", f"$op {op} applies to dimensions only, not to {name}; use patch")
    elif name in INTERVAL:
        checked = None if value is None else instant(name, value)
    elif name in view.group_by:
        checked = group_value(name, value)
    return checked if isinstance(checked, Rejected) else None
