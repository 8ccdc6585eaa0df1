"""What the pipeline's benchmark is made of: a broker, updates, a maintainer as a process, and the plain consumer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.datasets import independent
from deploy.local.broker import die_with_parent
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import ensure_topics
from skyline.view import View

DIMENSIONS: Final = {"price": "min", "distance": "min", "rating": "max"}
TOPIC: Final = "bench.updates"
_POLL_SECONDS: Final = 0.02
_PATIENCE_SECONDS: Final = 300.0


def view_of(name: str, topic: str = TOPIC) -> View:
    return View.of(name, {"dimensions": DIMENSIONS, "updates": topic})


def values(count: int, seed: int) -> Iterator[bytes]:
    """JSON of uniform points, six decimals each: 53 bytes."""
    for price, distance, rating in independent(count, 3, seed).tolist():
        yield b'{"price":%.6f,"distance":%.6f,"rating":%.6f}' % (price, distance, rating)


def fill(kafka: KafkaSettings, topic: str, keys: list[bytes], seed: int) -> None:
    """One update for each key, in this order."""
    ensure_topics(kafka, view_of("fill", topic), ("updates",))
    producer = Producer(
        kafka.client(linger_ms=20, batch_size=1_000_000, queue_buffering_max_messages=1_000_000, compression_type="lz4")
    )
    for key, value in zip(keys, values(len(keys), seed), strict=True):
        while True:
            try:
                producer.produce(topic, value, key)
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(120) == 0


def random_keys(count: int, objects: int, seed: int) -> list[bytes]:
    return [b"object-%d" % i for i in np.random.default_rng(seed).integers(0, objects, count).tolist()]


def drain_rate(kafka: KafkaSettings, topic: str, count: int) -> float:
    """Records a second of `Consumer.consume` on the topic, from the first batch on; nothing is done with them."""
    consumer = Consumer(kafka.client(group_id="raw", enable_auto_commit=False, queued_min_messages=200_000))
    consumer.assign([TopicPartition(topic, 0, 0)])
    seen = len(consumer.consume(1, 30))
    started, first = time.perf_counter(), seen
    while seen < count:
        seen += len(consumer.consume(10_000, 1.0))
    rate = (seen - first) / (time.perf_counter() - started)
    consumer.close()
    return rate


class Running:
    """`python -m maintainer` for one view."""

    def __init__(self, kafka: KafkaSettings, home: Path, view: View, *more: str) -> None:
        self.view = view
        home.mkdir(parents=True, exist_ok=True)
        views = home / f"{view.name}.toml"
        table = ", ".join(f'{name} = "{direction}"' for name, direction in DIMENSIONS.items())
        views.write_text(f'[{view.name}]\ndimensions = {{ {table} }}\nupdates = "{view.topic("updates")}"\n')
        self.log = home / f"{view.name}-{time.monotonic_ns()}.log"
        command = [
            sys.executable, "-m", "maintainer", "--bootstrap", kafka.bootstrap, "--views", str(views),
            "--state", str(home / "state"), "--metrics-port", "0", *more,
        ]  # fmt: skip
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=die_with_parent)

    def metric(self, name: str) -> float:
        """A metric of the view, 0 while there is none."""
        port = re.search(rb"serving .* on 127.0.0.1:(\d+)", self.log.read_bytes())
        if port is None:
            return 0.0
        with urllib.request.urlopen(f"http://127.0.0.1:{int(port[1])}/metrics", timeout=10) as page:
            found = re.search(rf'^{name}{{view="{self.view.name}"}} (\S+)$', page.read().decode(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    def wait(self, name: str, least: float) -> float:
        """Waits until a metric is at least so large, and gives it."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (value := self.metric(name)) < least:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{name} stands at {value}: {self.log.read_text()[-2000:]}")
            time.sleep(_POLL_SECONDS)
        return value

    def commit_rate(self, count: int) -> float:
        """Updates a second from the first commit to the last of `count`, their changes included."""
        first = self.wait("skyline_updates_total", 1)
        started = time.perf_counter()
        self.wait("skyline_updates_total", count)
        return (count - first) / (time.perf_counter() - started)

    def memory(self) -> dict[str, float]:
        """Resident memory in MB: now, and at its peak."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        fields = {name: int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmRSS", "VmHWM")}  # type: ignore[index]
        return {"now": fields["VmRSS"], "peak": fields["VmHWM"]}

    def stop(self) -> None:
        """Ends it in good order: it writes a checkpoint."""
        self.process.terminate()
        if self.process.wait(120) != 0:
            raise RuntimeError(self.log.read_text()[-2000:])

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_raised: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def plain_drain(kafka: KafkaSettings, topic: str, count: int) -> float:
    """`drain_rate` in a process of its own, as the maintainer has one."""
    command = [sys.executable, "-m", "benchmarks.pipeline_parts", kafka.bootstrap, topic, str(count)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    return float(json.loads(result.stdout))


if __name__ == "__main__" and len(sys.argv) == 4:
    print(drain_rate(KafkaSettings(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
