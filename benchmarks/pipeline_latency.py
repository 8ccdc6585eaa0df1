"""From the moment an update is produced to the moment its change can be read, at a steady rate."""

from __future__ import annotations

import threading
import time
from typing import Final

import numpy as np
from confluent_kafka import Producer

from benchmarks.pipeline_parts import random_keys, values
from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import Drain
from skyline.view import View

_TICK_SECONDS: Final = 0.001
_WARM_SECONDS: Final = 2.0


def latencies(kafka: KafkaSettings, view: View, rate: int, seconds: float, objects: int) -> dict[str, float]:
    """Milliseconds from produce to visible, of every change: median, 99th percentile, and how many there were.

    An update's timestamp is the wall clock when it is handed to the producer, and that is its change's timestamp too.
    """
    seen: list[np.ndarray] = []
    stop = threading.Event()
    reader = threading.Thread(target=_read, args=(kafka, view.topic("changes"), stop, seen))
    reader.start()
    achieved = _produce(kafka, view.topic("updates"), rate, seconds + _WARM_SECONDS, objects)
    time.sleep(1.0)
    stop.set()
    reader.join()
    rows = np.concatenate(seen)
    begin = rows[:, 0].min() + _WARM_SECONDS * 1000
    waits = rows[rows[:, 0] >= begin][:, 1]
    p50, p99 = np.percentile(waits, [50, 99])
    return {"p50_ms": float(p50), "p99_ms": float(p99), "changes": len(waits), "updates_per_second": achieved}


def _produce(kafka: KafkaSettings, topic: str, rate: int, seconds: float, objects: int) -> float:
    """Sends at the rate, evenly; gives the rate that came out."""
    count = int(rate * seconds)
    rows = list(zip(random_keys(count, objects, 5), values(count, 6), strict=True))
    producer = Producer(kafka.client(linger_ms=1, compression_type="lz4", queue_buffering_max_messages=1_000_000))
    started, sent = time.perf_counter(), 0
    while sent < count:
        due = min(count, int((time.perf_counter() - started) * rate))
        now = int(time.time() * 1000)
        for key, value in rows[sent:due]:
            producer.produce(topic, value, key, timestamp=now)
        sent = due
        producer.poll(0)
        time.sleep(_TICK_SECONDS)
    elapsed = time.perf_counter() - started
    assert producer.flush(60) == 0
    return count / elapsed


def _read(kafka: KafkaSettings, topic: str, stop: threading.Event, seen: list[np.ndarray]) -> None:
    """(timestamp, wait) of every change that becomes visible from now on."""
    latest = -1  # librdkafka's word for the end
    settings = kafka.client(group_id="latency", isolation_level="read_committed")
    with Drain(settings, topic, 0, latest) as drain:
        while not stop.is_set():
            records = drain.poll(0.1)
            if len(records):
                stamps = records.timestamps
                seen.append(np.stack((stamps, time.time() * 1000 - stamps), axis=1))
