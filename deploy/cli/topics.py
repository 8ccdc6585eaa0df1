"""Reading whole topics, for commands that look at a view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from skyline.errors import SkylineError
from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import Drain
from skyline.view import View
from skyline.wire.changes import MemberRecord, read_member
from skyline.wire.records import Records

_SECONDS: Final = 10.0


def end_of(kafka: KafkaSettings, topic: str) -> tuple[int, int]:
    """(first offset, offset after the last committed record) of the topic."""
    consumer = Consumer(kafka.client(group_id="skyline-cli", isolation_level="read_committed"))
    try:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=_SECONDS)
    except KafkaException as error:
        raise SkylineError(f"topic {topic} cannot be read at {kafka.bootstrap}: {error.args[0].str()}") from None
    finally:
        consumer.close()
    return low, high


def everything(kafka: KafkaSettings, topic: str) -> Iterator[Records]:
    """All records that were there when asked, in batches."""
    low, high = end_of(kafka, topic)
    settings = kafka.client(group_id="skyline-cli", isolation_level="read_committed", enable_partition_eof=True)
    with Drain(settings, topic, 0, low) as drain:
        while drain.position < high and not drain.at_end:
            records = drain.poll(1.0)
            if len(records):
                yield records


def current_members(kafka: KafkaSettings, view: View) -> dict[str, MemberRecord]:
    """The skyline as it is published."""
    members: dict[str, MemberRecord] = {}
    for records in everything(kafka, view.topic("skyline")):
        take(members, records)
    return members


def take(members: dict[str, MemberRecord], records: Records) -> None:
    """Applies records of V.skyline to a table of members."""
    for row in range(len(records)):
        key, value = (records.key(row) or b"").decode(), records.value(row)
        if value is None:
            members.pop(key, None)
        else:
            members[key] = read_member(value)
