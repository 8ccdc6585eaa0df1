"""What a source says about event time arrives as the record's timestamp: the view's clock is made of nothing else."""

from __future__ import annotations

import threading

import pytest

from ingest.batch import Batch
from ingest.delivery import Delivery
from ingest.publisher import Publisher
from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import Drain
from skyline.runtime.topics import ensure_topics
from skyline.view import View


@pytest.mark.kafka
def test_event_times_are_the_records_timestamps(kafka: KafkaSettings, unique: str) -> None:
    view = View.of(unique, {"dimensions": {"price": "min"}})
    ensure_topics(kafka, view, ("updates",))
    times = [1_700_000_000_123, 1_700_000_000_124, 1_600_000_000_000]
    publisher = Publisher(kafka, 30.0, threading.Event())
    publisher.send(view.topic("updates"), Batch([b"a", b"b", b"c"], [b"{}"] * 3, times), Delivery(3))
    assert publisher.flush(30.0)
    with Drain(kafka.client(group_id=unique), view.topic("updates"), 0, 0) as drain:
        seen: list[int] = []
        while len(seen) < len(times):
            seen += drain.poll(1.0).timestamps.tolist()
    assert seen == times
