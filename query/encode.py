"""Members and answers as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import orjson

from query.objects import Record
from query.stamp import Stamp
from skyline.view import NEVER, View
from skyline.wire.fields import jsonable, written
from skyline.wire.updates import ALWAYS


class Encoder:
    """Writes the members of one view: {"key", "point", "group", "carry"} and what is added. About 1 µs each."""

    def __init__(self, view: View, numbering: Callable[[int], int] | None = None) -> None:
        """`numbering` tells the last change up to an offset, for views whose changes are not counted here."""
        self._numbering = numbering
        names = [orjson.dumps(name).replace(b"%", b"%%") for name in view.dimensions.names]
        self._names = view.dimensions.names
        self._point = b"{" + b",".join(name + b":%b" for name in names) + b"}"
        self._begin = b'{"view":' + orjson.dumps(view.name)

    def member(self, record: Record, more: bytes = b"") -> bytes:
        """`more` is JSON to splice in behind, such as b',"score":1.5'."""
        key, point, _, extras, _, _ = record
        values = tuple([written(value) for value in np.frombuffer(point).tolist()])
        return b'{"key":%b,"point":%b%b%b}' % (orjson.dumps(key), self._point % values, extras, more)

    def point(self, values: Sequence[float]) -> dict[str, Any]:
        """Numbers by dimension, as JSON has them."""
        return dict(zip(self._names, map(jsonable, values), strict=True))

    def answer(self, stamp: Stamp, members: Sequence[bytes], /, **fields: Any) -> bytes:
        """A whole answer."""
        return self.head(stamp, **fields)[:-1] + b',"members":[' + b",".join(members) + b"]}"

    def head(self, stamp: Stamp, /, **fields: Any) -> bytes:
        """An answer without its members."""
        if self._numbering is not None:
            stamp = stamp._replace(seq=self._numbering(stamp.offset))
        return self._begin + b"," + orjson.dumps({**stamp.fields(), **fields})[1:]


def interval_of(record: Record) -> dict[str, Any]:
    """When a record is valid; null where it has no beginning or no end."""
    return {
        "valid_from": None if record[4] == ALWAYS else record[4],
        "valid_until": None if record[5] == NEVER else record[5],
    }


def spliced(extras: bytes) -> dict[str, Any]:
    """Group and carried fields of a record, as a dictionary."""
    return orjson.loads(b"{" + extras[1:] + b"}") if extras else {}
