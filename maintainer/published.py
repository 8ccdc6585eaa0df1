"""What the view's own change log says of itself, where the group's committed offset does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from confluent_kafka import Consumer, TopicPartition

from maintainer.metadata import Committed
from skyline.errors import SkylineError
from skyline.runtime.drain import OLDEST, Drain
from skyline.runtime.patience import patiently
from skyline.view import View
from skyline.wire.changes import ChangeRecord, read_change

_CALL_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.2
_TAIL: Final = 1_000
"""Offsets at the end of the log that are looked at first: markers of transactions have offsets too."""


class OffsetsLost(SkylineError):
    """The group does not know how far the view has come, although it has published changes."""


def settled(view: View, consumer: Consumer, settings: Mapping[str, Any], to: Committed | None) -> Committed | None:
    """Where the group stands, with the number of the last change also where an administrator set the offset.

    Such an offset may be before or after what was published: replay then gives another number, and is refused. A
    group without an offset is refused too, unless the view has not begun: what a crash left of a first transaction
    does not count, it was never committed.
    """
    if to is not None and to.seq is not None:
        return to
    last = last_change(view, consumer, settings)
    updates, changes = view.topic("updates"), view.topic("changes")
    if to is None:
        if last is None:
            return None
        raise OffsetsLost(
            f"{changes} has records, but the group has no committed offset for {updates}: it expired or was deleted, "
            f"or --group was changed; restore it with kafka-consumer-groups.sh --reset-offsets --to-offset "
            f"{last.offset + 1}, which is after the last change"
        )
    if view.coalesce:
        raise OffsetsLost(
            f"the committed offset of {updates} was not set by a maintainer, and a coalesced view cannot count its "
            f"changes again: give the view a new name"
        )
    return replace(to, seq=0 if last is None else last.seq)


def last_change(view: View, consumer: Consumer, settings: Mapping[str, Any]) -> ChangeRecord | None:
    """The last committed change, or None. Reads the end of the log, further back only where it holds none."""
    place = TopicPartition(view.topic("changes"), 0)
    low, high = patiently(lambda: consumer.get_watermark_offsets(place, timeout=_CALL_SECONDS))
    reach = _TAIL
    while True:
        start = high - reach if high - reach > low else OLDEST
        value = _last_value(settings, place.topic, start)
        if value is not None:
            return read_change(value)
        if start == OLDEST:
            return None
        reach *= 10


def _last_value(settings: Mapping[str, Any], topic: str, start: int) -> bytes | None:
    value: bytes | None = None
    with Drain({**settings, "enable.partition.eof": True}, topic, 0, start) as drain:
        while not drain.at_end:
            records = drain.poll(_POLL_SECONDS)
            if len(records):
                value = records.value(len(records) - 1)
    return value
