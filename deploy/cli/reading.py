"""Reading whole topics, for commands that look at a view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from skyline.errors import InvalidInput, SkylineError
from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import Drain
from skyline.view import View
from skyline.wire.changes import MemberRecord, read_member
from skyline.wire.records import Records

_SECONDS: Final = 5.0


class TopicUnread(SkylineError):
    """The topic cannot be read; the message says what to do."""


def reader(kafka: KafkaSettings, **own: Any) -> dict[str, Any]:
    """Settings of a consumer that follows committed records, and is patient with a broker that went away."""
    return kafka.client(group_id="skyline-cli", isolation_level="read_committed", reconnect_backoff_ms=1000, **own)


def end_of(kafka: KafkaSettings, topic: str) -> tuple[int, int]:
    """(first offset, offset after the last committed record) of the topic."""
    # librdkafka would print twenty lines a second about a broker that is away: the error below says it once
    try:
        consumer = Consumer({**reader(kafka), "log_level": 0})
    except KafkaException as error:
        raise InvalidInput(f"no Kafka client can be made with these settings: {error.args[0].str()}") from None
    try:
        found = consumer.list_topics(topic, timeout=_SECONDS).topics[topic]
        if found.error is not None:
            raise KafkaException(found.error)
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=_SECONDS)
    except KafkaException as error:
        raise _unread(kafka, topic, error.args[0]) from None
    finally:
        consumer.close()
    return low, high


def no_broker(kafka: KafkaSettings) -> str:
    """What to do where nobody answers."""
    return f"no broker answers at {kafka.bootstrap}: run `skyline up`, or name one with --bootstrap"


def _unread(kafka: KafkaSettings, topic: str, error: KafkaError) -> TopicUnread:
    if error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return TopicUnread(f"{kafka.bootstrap} has no topic {topic}: does the maintainer of this view run?")
    if error.code() in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT):
        return TopicUnread(no_broker(kafka))
    return TopicUnread(f"topic {topic} cannot be read at {kafka.bootstrap}: {error.str()}")


def everything(kafka: KafkaSettings, topic: str) -> Iterator[Records]:
    """All records that were there when asked, in batches."""
    low, high = end_of(kafka, topic)
    with Drain(reader(kafka, enable_partition_eof=True), topic, 0, low) as drain:
        while drain.position < high and not drain.at_end:
            records = drain.poll(1.0)
            if len(records):
                yield records


def current_members(kafka: KafkaSettings, view: View) -> dict[str, MemberRecord]:
    """The skyline as it is published."""
    members: dict[str, MemberRecord] = {}
    for records in everything(kafka, view.topic("skyline")):
        for row in range(len(records)):
            key, value = (records.key(row) or b"").decode(), records.value(row)
            if value is None:
                members.pop(key, None)
            else:
                members[key] = read_member(value)
    return members
