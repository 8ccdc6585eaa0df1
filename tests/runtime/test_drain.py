"""The drain gives exactly what Python's own consumer gives."""

from __future__ import annotations

import random
import threading

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import OLDEST, Drain, DrainFailed
from skyline.runtime.librdkafka import KafkaUnusable

pytestmark = pytest.mark.kafka
Row = tuple[bytes | None, bytes | None, int, int]


@pytest.fixture
def topic(kafka: KafkaSettings, unique: str) -> str:
    config = {"max.message.bytes": str(16 * 2**20)}
    admin = AdminClient(kafka.client())
    admin.create_topics([NewTopic(unique, 1, 1, config=config)])[unique].result()
    return unique


def settings(kafka: KafkaSettings) -> dict[str, object]:
    return kafka.client(group_id="drain", isolation_level="read_committed", enable_partition_eof=True)


def drained(kafka: KafkaSettings, topic: str, offset: int = 0, limit: int = 20_000) -> list[Row]:
    rows: list[Row] = []
    with Drain(settings(kafka), topic, 0, offset) as drain:
        while not drain.at_end:
            records = drain.poll(5.0, limit)
            assert len(records) <= limit
            for i in range(len(records)):
                rows.append((records.key(i), records.value(i), int(records.timestamps[i]), int(records.offsets[i])))
    return rows


def consumed(kafka: KafkaSettings, topic: str, count: int) -> list[Row]:
    consumer = Consumer(kafka.client(group_id="consume", isolation_level="read_committed", enable_auto_commit=False))
    consumer.assign([TopicPartition(topic, 0, 0)])
    rows: list[Row] = []
    while len(rows) < count:
        for message in consumer.consume(1000, 5.0):
            assert message.error() is None
            rows.append((message.key(), message.value(), message.timestamp()[1], message.offset()))
    consumer.close()
    return rows


def sent(kafka: KafkaSettings, topic: str, count: int) -> None:
    rng = random.Random(1)
    producer = Producer(kafka.client(linger_ms=5, message_max_bytes=8_000_000))
    for i in range(count):
        key = rng.choice([None, b"", b"key", "ключ".encode(), rng.randbytes(9)])
        value = rng.choice([None, b"", b"{}", rng.randbytes(rng.randrange(300))])
        producer.produce(topic, value, key, timestamp=1_700_000_000_000 + i)
    producer.produce(topic, b"x" * 3_000_000, b"large", timestamp=1_700_000_000_000)
    assert producer.flush(60) == 0


def forget(kafka: KafkaSettings, topic: str, before: int) -> None:
    admin, place = AdminClient(kafka.client()), TopicPartition(topic, 0, before)
    admin.delete_records([place])[place].result()


def test_records_are_those_of_the_consumer(kafka: KafkaSettings, topic: str) -> None:
    sent(kafka, topic, 5000)
    rows = drained(kafka, topic)
    assert len(rows) == 5001
    assert rows == consumed(kafka, topic, 5001)
    assert drained(kafka, topic, limit=7) == rows


@pytest.mark.parametrize("offset", [0, 1, 299, 300])
def test_reading_begins_at_the_offset(kafka: KafkaSettings, topic: str, offset: int) -> None:
    sent(kafka, topic, 300)
    assert [row[3] for row in drained(kafka, topic, offset)] == list(range(offset, 301))


def test_aborted_transactions_and_markers_are_passed_over(kafka: KafkaSettings, topic: str) -> None:
    producer = Producer(kafka.client(transactional_id=topic))
    producer.init_transactions(30)
    for number in range(6):
        producer.begin_transaction()
        producer.produce(topic, b"%d" % number)
        producer.flush(30)
        if number % 2:
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
    with Drain(settings(kafka), topic, 0, 0) as drain:
        seen = []
        while not drain.at_end:
            records = drain.poll(5.0)
            seen += [records.value(i) for i in range(len(records))]
        assert seen == [b"0", b"2", b"4"]
        assert drain.position == 12  # six records and six markers


def test_the_oldest_record_can_be_asked_for(kafka: KafkaSettings, topic: str) -> None:
    sent(kafka, topic, 100)
    forget(kafka, topic, before=40)
    assert [row[3] for row in drained(kafka, topic, OLDEST)] == list(range(40, 101))


def test_an_offset_that_is_gone_is_an_error(kafka: KafkaSettings, topic: str) -> None:
    sent(kafka, topic, 100)
    forget(kafka, topic, before=40)
    words = rf"{topic}\[0\] cannot be read at offset 10: .*[Oo]ffset"
    with Drain(settings(kafka), topic, 0, 10) as drain, pytest.raises(DrainFailed, match=words):
        poll_for_long(drain)


def poll_for_long(drain: Drain) -> None:
    for _ in range(20):
        drain.poll(1.0)


def test_a_closed_drain_says_so(kafka: KafkaSettings, topic: str) -> None:
    drain = Drain(settings(kafka), topic, 0, 0)
    drain.close()
    drain.close()
    with pytest.raises(DrainFailed, match="was closed"):
        drain.poll(0)


def test_a_wrong_setting_is_named(kafka: KafkaSettings, topic: str) -> None:
    with pytest.raises(KafkaUnusable, match=r"fetch\.wait\.max\.ms"):
        Drain({**settings(kafka), "fetch.wait.max.ms": "soon"}, topic, 0, 0)


def test_a_poll_that_was_interrupted_does_not_hold_up_the_end(
    kafka: KafkaSettings, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C strikes when messages were taken and not freed yet; librdkafka waits for every message that is out."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    sent(kafka, topic, 10)
    drain = Drain(settings(kafka), topic, 0, 0)
    with monkeypatch.context() as patched:
        patched.setattr("skyline.runtime.drain.gather", interrupt)
        with pytest.raises(KeyboardInterrupt):
            drain.poll(10.0)
    closing = threading.Thread(target=drain.close, daemon=True)
    closing.start()
    closing.join(30)
    assert not closing.is_alive()
