"""Load on a running query service: a producer at a steady rate, clients that time their requests, stream readers.

Each runs in a process of its own, so that what is measured is the service and not the measuring.
"""

from __future__ import annotations

import asyncio
import http.client
import multiprocessing
import multiprocessing.synchronize
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from confluent_kafka import Producer

from skyline.runtime.config import KafkaSettings

_SPAWN: Final = multiprocessing.get_context("spawn")
_SLICE_SECONDS: Final = 0.01
_VALUE: Final = b'{"x":%.9f,"y":%.9f,"z":%.9f}'
_FIRST_AT: Final = 1_700_000_000_000


def load(kafka: KafkaSettings, topic: str, objects: int, seed: int = 1) -> None:
    """Every object once, as fast as the broker takes them."""
    producer = _producer(kafka)
    for i, point in enumerate(np.random.default_rng(seed).random((objects, 3)).tolist()):
        _send(producer, topic, b"o%d" % i, _VALUE % tuple(point), _FIRST_AT)
    assert producer.flush(120) == 0


class Steady:
    """A process that sends updates of random objects at a steady rate until it is stopped."""

    def __init__(self, kafka: KafkaSettings, topic: str, objects: int, rate: int, *, improving: bool = False) -> None:
        """`improving`: one object gets better with every update, so that each is one change."""
        self._stop = _SPAWN.Event()
        self._sent = _SPAWN.Value("q", 0)
        self._began = time.monotonic()
        self._process = _SPAWN.Process(
            target=_send_steadily, args=(kafka, topic, objects, rate, improving, self._stop, self._sent), daemon=True
        )
        self._process.start()

    def rate(self, seconds: float) -> float:
        """Updates per second over so many seconds from now."""
        began, before = time.monotonic(), self._sent.value
        time.sleep(seconds)
        return float(self._sent.value - before) / (time.monotonic() - began)

    @property
    def sent(self) -> int:
        return int(self._sent.value)

    def stop(self) -> None:
        self._stop.set()
        self._process.join(60)


def _send_steadily(
    kafka: KafkaSettings, topic: str, objects: int, rate: int, improving: bool,
    stop: multiprocessing.synchronize.Event, sent: Any,
) -> None:  # fmt: skip
    # many producers fill their batches: at 20,000 a second from one, it waits a little longer for the same effect
    producer, rng = _producer(kafka, linger_ms=5 if improving else 20), np.random.default_rng(2)
    began = time.monotonic()
    while not stop.is_set():
        due = int((time.monotonic() - began) * rate) - sent.value
        now = time.time_ns() // 1_000_000
        if improving:
            for number in range(sent.value, sent.value + due):
                _send(producer, topic, b"best", _VALUE % (-number, -number, -number), now)
        elif due > 0:
            numbers, points = rng.integers(objects, size=due).tolist(), rng.random((due, 3)).tolist()
            for number, point in zip(numbers, points, strict=True):
                _send(producer, topic, b"o%d" % number, _VALUE % tuple(point), now)
        sent.value += max(0, due)
        producer.poll(0)
        time.sleep(_SLICE_SECONDS)
    producer.flush(60)


def latencies(
    port: int, path: Callable[[int], str], seconds: float, pause: float = 0.02, clients: int = 2
) -> list[float]:
    """Milliseconds from request to the whole answer, over connections that are kept, for so many seconds."""
    found: list[float] = []
    end = time.monotonic() + seconds

    def client(first: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        number = first
        while time.monotonic() < end:
            began = time.perf_counter()
            connection.request("GET", path(number))
            response = connection.getresponse()
            body = response.read()
            found.append((time.perf_counter() - began) * 1000)
            assert response.status == 200, body
            number += clients
            time.sleep(pause)
        connection.close()

    threads = [threading.Thread(target=client, args=(first,)) for first in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


class Readers:
    """A process with many open change streams."""

    def __init__(self, port: int, path: str, count: int) -> None:
        self._results: Any = _SPAWN.Queue()
        self._stop = _SPAWN.Event()
        self._process = _SPAWN.Process(target=_read, args=(port, path, count, self._stop, self._results), daemon=True)
        self._process.start()
        assert self._results.get(timeout=120) == "open"

    def stop(self) -> tuple[list[int], list[float]]:
        """Changes that each reader got, and how late they came, in milliseconds after their event time."""
        self._stop.set()
        result: tuple[list[int], list[float]] = self._results.get(timeout=120)
        self._process.join(60)
        return result


def _read(port: int, path: str, count: int, stop: multiprocessing.synchronize.Event, results: Any) -> None:
    asyncio.run(_read_all(port, path, count, stop, results))


async def _read_all(port: int, path: str, count: int, stop: multiprocessing.synchronize.Event, results: Any) -> None:
    counts, late = [0] * count, list[float]()
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n".encode()
    streams = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        streams.append((reader, writer))
    for reader, _ in streams:
        await reader.readuntil(b"retry: 1000\n\n")
    results.put("open")
    tasks = [asyncio.create_task(_count(reader, i, counts, late)) for i, (reader, _) in enumerate(streams)]
    while not stop.is_set():
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for _, writer in streams:
        writer.close()
    results.put((counts, late))


async def _count(reader: asyncio.StreamReader, number: int, counts: list[int], late: list[float]) -> None:
    while data := await reader.read(65536):
        counts[number] += data.count(b"event: change")
        if number % 100 == 0 and (place := data.rfind(b'"at":')) >= 0:
            at = int(data[place + 5 : data.index(b",", place)])
            late.append(time.time_ns() / 1e6 - at)


def _producer(kafka: KafkaSettings, linger_ms: int = 5) -> Producer:
    return Producer(kafka.client(linger_ms=linger_ms, acks=1, queue_buffering_max_messages=500_000))


def _send(producer: Producer, topic: str, key: bytes, value: bytes, at: int) -> None:
    while True:
        try:
            producer.produce(topic, value, key, timestamp=at)
            return
        except BufferError:
            producer.poll(0.1)
