"""What became of a batch: every update is written once or has failed, and whoever waits hears of it once."""

from __future__ import annotations

import threading
from typing import Any

import orjson
import pytest
from confluent_kafka import KafkaError

from ingest.batch import Batch
from ingest.check import Checker
from ingest.delivery import Delivery, DeliveryFailed, Receipt
from ingest.outbox import Outbox
from ingest.publisher import Publisher
from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import ensure_topics
from skyline.wire.updates import MAX_VALUE_BYTES
from tests.ingest.harness import eventually, records, view_of

NOW = 1_700_000_000_000
FAILURE = KafkaError(KafkaError._MSG_TIMED_OUT)


class Written:
    """A delivery report's message."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def offset(self) -> int:
        return self._offset


def batch(*keys: str) -> Batch:
    return Batch([key.encode() for key in keys], [None] * len(keys), [NOW] * len(keys))


def test_a_receipt_tells_of_each_update_and_calls_once() -> None:
    calls: list[Any] = []
    receipt = Receipt(3, lambda: calls.append(list(receipt.offsets)))
    first, second, third = receipt.reports()
    third(None, Written(9))  # type: ignore[arg-type]
    first(None, Written(7))  # type: ignore[arg-type]
    assert (receipt.pending, calls) == (1, [])
    second(FAILURE, None)
    assert calls == [[7, None, 9]]
    assert receipt.failures == {1: FAILURE}
    assert receipt.failure is FAILURE


def test_a_delivery_knows_the_last_offset_and_the_first_failure() -> None:
    delivery = Delivery(2, mark=5)
    for report, offset in zip(delivery.reports(), (3, 4), strict=False):
        report(None, Written(offset))  # type: ignore[arg-type]
    assert (delivery.pending, delivery.offset, delivery.failure, delivery.mark) == (0, 4, None, 5)


@pytest.mark.kafka
def test_batches_are_acknowledged_in_order(kafka: KafkaSettings, unique: str) -> None:
    ensure_topics(kafka, view_of(unique), ("updates",))
    done: list[tuple[int, int]] = []
    stop = threading.Event()
    outbox = Outbox(
        Publisher(kafka, 30.0, stop), f"{unique}.updates", stop, lambda sent: done.append((sent.mark, sent.offset))
    )
    outbox.send(batch("a", "b"), 2)
    outbox.send(batch(), 3)
    outbox.send(batch("c"), 4)
    assert outbox.finish()
    assert done == [(2, 1), (3, -1), (4, 2)]
    assert outbox.written == 3
    assert [key for key, _, _ in records(kafka, f"{unique}.updates")] == [b"a", b"b", b"c"]


@pytest.mark.kafka
def test_what_the_broker_refuses_ends_the_sending(kafka: KafkaSettings, unique: str) -> None:
    stop = threading.Event()
    publisher = Publisher(kafka, 2.0, stop)
    outbox = Outbox(publisher, f"{unique}.nowhere", stop, lambda _: None)
    outbox.send(batch("a"))
    with pytest.raises(DeliveryFailed, match=rf"{unique}\.nowhere: the broker did not take everything: "):
        outbox.finish()


@pytest.mark.kafka
def test_a_record_that_is_too_large_fails_alone(kafka: KafkaSettings, unique: str) -> None:
    ensure_topics(kafka, view_of(unique), ("updates",))
    publisher = Publisher(kafka, 30.0, threading.Event())
    receipt = Receipt(3, lambda: None)
    publisher.send(f"{unique}.updates", Batch([b"a", b"b", b"c"], [b"1", b"x" * 3_000_000, b"3"], [NOW] * 3), receipt)
    assert publisher.flush(30.0)
    assert receipt.offsets == [0, None, 1]
    assert receipt.failures[1].code() == KafkaError.MSG_SIZE_TOO_LARGE


class Crowded:
    """A producer whose queue is full now and then."""

    def __init__(self, full: list[bool]) -> None:
        self.full, self.taken = full, list[bytes]()

    def produce(self, _topic: str, _value: Any, key: bytes, *_: Any, **__: Any) -> None:
        if self.full.pop(0):
            raise BufferError("full")
        self.taken.append(key)

    def poll(self, _timeout: float) -> None:
        pass


def test_after_a_signal_nothing_is_written_behind_what_was_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    publisher = Publisher(KafkaSettings("127.0.0.1:1"), 60.0, stop)
    crowded = Crowded([False, True, False, True, False, False])
    monkeypatch.setattr(publisher, "_producer", crowded)
    monkeypatch.setattr(crowded, "poll", lambda _: stop.set() if len(crowded.full) == 2 else None)
    delivery = Delivery(5)
    publisher.send("t", batch(*"abcde"), delivery)
    # b waited for room, c was given up after the signal, and d and e with it although there was room again
    assert crowded.taken == [b"a", b"b"]
    assert delivery.pending == 2


@pytest.mark.kafka
def test_the_largest_value_that_passes_the_check_is_written(kafka: KafkaSettings, unique: str) -> None:
    view = view_of(unique)
    ensure_topics(kafka, view, ("updates",))
    fields = {"price": 1, "rating": 2, "city": "x", "name": ""}
    value = orjson.dumps({**fields, "name": "x" * (MAX_VALUE_BYTES - len(orjson.dumps(fields)))})
    good, _ = Checker(view).split(Batch([b"k" * 256], [value], [NOW]))
    receipt = Receipt(1, lambda: None)
    publisher = Publisher(kafka, 30.0, threading.Event())
    publisher.send(f"{unique}.updates", good, receipt)
    assert publisher.flush(30.0)
    assert receipt.offsets == [0]


def test_after_a_signal_a_full_queue_is_given_up() -> None:
    stop = threading.Event()
    stop.set()
    publisher = Publisher(KafkaSettings("127.0.0.1:1", {"queue.buffering.max.messages": "2"}), 60.0, stop)
    delivery = Delivery(5)
    publisher.send("t", batch(*"abcde"), delivery)
    assert delivery.pending == 2
    assert delivery.failure is not None
    assert delivery.failure.code() == KafkaError._QUEUE_FULL
    publisher.drop()
    assert (publisher.in_flight, delivery.pending) == (0, 0)


@pytest.mark.kafka
def test_a_connection_is_noticed(kafka: KafkaSettings) -> None:
    publisher = Publisher(kafka, 30.0, threading.Event(), watch_brokers=True)
    away = Publisher(KafkaSettings("127.0.0.1:1"), 30.0, threading.Event(), watch_brokers=True)

    def connected() -> bool:
        publisher.poll(0.1)
        away.poll(0.1)
        return publisher.connected

    eventually(connected, "a connection")
    assert not away.connected


def test_settings_that_mean_nothing() -> None:
    with pytest.raises(InvalidInput, match=r"no producer can be made with these settings: .*nonsense"):
        Publisher(KafkaSettings("127.0.0.1:1", {"nonsense": "1"}), 1.0, threading.Event())


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf"), 1e9])
def test_timeouts_that_mean_nothing(timeout: float) -> None:
    with pytest.raises(InvalidInput, match="--timeout must be more than 0 and at most 2147483 seconds"):
        Publisher(KafkaSettings("127.0.0.1:1"), timeout, threading.Event())
