"""Whatever event time the updates topic took, the output topics take too: a broker refuses the far future otherwise."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, Message, Producer

from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import ensure_topics
from skyline.view import View

_FAR_FUTURE = 99_999_999_999_999


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("kind", "taken"), [("updates", False), ("changes", True), ("skyline", True), ("rejected", True)]
)
def test_event_times_far_ahead(kafka: KafkaSettings, unique: str, kind: str, taken: bool) -> None:
    view = View.of(unique, {"dimensions": {"price": "min"}})
    ensure_topics(kafka, view)
    reports: list[KafkaError | None] = []

    def report(error: KafkaError | None, _message: Message) -> None:
        reports.append(error)

    producer = Producer(kafka.client())
    producer.produce(view.topic(kind), b"{}", b"key", 0, on_delivery=report, timestamp=_FAR_FUTURE)
    assert producer.flush(30) == 0
    assert [error is None for error in reports] == [taken]
