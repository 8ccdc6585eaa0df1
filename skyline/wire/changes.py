"""Changes and members as bytes: what subscribers of V.changes and V.skyline read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import orjson

from skyline.errors import InvalidInput
from skyline.view import View
from skyline.wire.fields import number, shown, written
from skyline.wire.rejects import Rejected


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """One record of V.changes, read back."""

    seq: int
    op: str
    key: str
    point: dict[str, float]
    reason: str
    by: str
    at: int
    offset: int
    partition: int
    size: int
    group: Mapping[str, Any] = field(default_factory=dict)
    carry: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """One record of V.skyline, read back: a member as of change `seq`."""

    seq: int
    key: str
    point: dict[str, float]
    at: int
    offset: int
    group: Mapping[str, Any] = field(default_factory=dict)
    carry: Mapping[str, Any] = field(default_factory=dict)


Record = TypeVar("Record", ChangeRecord, MemberRecord)


_CHANGE: Final = (
    b'{"seq":%d,"op":"%b","key":%b,"point":%b%b,"reason":"%b","by":%b,"at":%d,"offset":%d,"partition":%d,"size":%d}'
)


class ChangeWriter:
    """Writes the changes and members of one view. About 1 µs a record."""

    def __init__(self, view: View, partition: int = 0) -> None:
        names = [orjson.dumps(name).replace(b"%", b"%%") for name in view.dimensions.names]
        self._point = b"{" + b",".join(name + b":%b" for name in names) + b"}"
        self._partition = partition

    def change(
        self, seq: int, op: str, key: str, point: Sequence[float], extras: bytes, reason: str, by: str, at: int,
        offset: int, size: int,
    ) -> bytes:  # fmt: skip
        """The value of a V.changes record; `extras` as in an `Upsert`."""
        return _CHANGE % (
            seq, op.encode(), orjson.dumps(key), self._written(point), extras, reason.encode(), orjson.dumps(by), at,
            offset, self._partition, size,
        )  # fmt: skip

    def member(self, seq: int, key: str, point: Sequence[float], extras: bytes, at: int, offset: int) -> bytes:
        """The value of a V.skyline record."""
        return b'{"seq":%d,"key":%b,"point":%b%b,"at":%d,"offset":%d}' % (
            seq, orjson.dumps(key), self._written(point), extras, at, offset,
        )  # fmt: skip

    def _written(self, point: Sequence[float]) -> bytes:
        return self._point % tuple([written(value) for value in point])


def read_change(value: bytes) -> ChangeRecord:
    """A V.changes record. Raises InvalidInput on anything that this project did not write."""
    return _read(ChangeRecord, value)


def read_member(value: bytes) -> MemberRecord:
    """A V.skyline record that is not a tombstone."""
    return _read(MemberRecord, value)


def _read(kind: type[Record], value: bytes) -> Record:
    try:
        fields = orjson.loads(value)
        fields["point"] = {name: _coordinate(name, text) for name, text in fields["point"].items()}
        return kind(**fields)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        text = shown(value.decode(errors="replace"))
        raise InvalidInput(f"not a {kind.__name__}: {error!r} in {text}") from None


def _coordinate(name: str, value: Any) -> float:
    coordinate = number(name, value)
    if isinstance(coordinate, Rejected):
        raise InvalidInput(coordinate.message)
    return coordinate
