"""Parts of an update that come as typed values, from JSON or Parquet: the key and the event time."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any, Final

from skyline.wire.fields import instant, shown
from skyline.wire.rejects import Rejected

BAD_TIME: Final = "bad_time"
"""The one reason that only ingest has: a topic's record always has a timestamp."""


def event_time(name: str, value: Any) -> int | Rejected:
    """Milliseconds since 1970 of milliseconds, ISO 8601, a datetime or a date; UTC where it names no offset."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, datetime):
        return round((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1000)
    moment = instant(name, value)
    return Rejected(BAD_TIME, moment.message) if isinstance(moment, Rejected) else moment


def key_bytes(name: str, value: Any) -> bytes | Rejected | None:
    """The key as a record has it. None stays None: whether a view takes it is the checker's to say."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, int) and not isinstance(value, bool):
        return b"%d" % value
    if value is None or isinstance(value, bytes):
        return value
    return Rejected("bad_key", f"{name} must be a string or an integer to be a key, got {shown(value)}")
