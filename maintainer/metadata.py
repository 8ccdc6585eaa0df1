"""What a committed offset says beside itself: up to which change the log goes, and for which definition of the view."""

from __future__ import annotations

from dataclasses import dataclass

import orjson


@dataclass(frozen=True, slots=True)
class Committed:
    """Where the group stands: the next offset to read. The rest is None where somebody else set the offset."""

    position: int
    seq: int | None = None
    """Number of the last change before it."""
    fingerprint: str | None = None


def write_metadata(seq: int, fingerprint: str) -> str:
    return orjson.dumps({"seq": seq, "view": fingerprint}).decode()


def read_committed(position: int, metadata: str | None) -> Committed:
    try:
        fields = orjson.loads(metadata or "")
        return Committed(position, int(fields["seq"]), str(fields["view"]))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return Committed(position)
