"""Several views under load, whose maintainers are killed over and over, and whose broker is restarted meanwhile."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from confluent_kafka import Producer

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from tests.maintainer.crashing import POINTS
from tests.maintainer.harness import Row, view_file
from tests.maintainer.process import Maintainer

_LIFETIME = 3.0
"""Seconds after which a maintainer that has not come to its trap is killed wherever it is."""

_OFTEN = {"produce": 60, "poll": 12, "take_over": 2}
"""How often a point is reached in a short life, where it is more or less than a few times."""


class Feeder:
    """Sends rows to every topic, a few at a time, until it is told to stop. What a topic holds is what counts: a broker
    that is killed may have taken a row or not."""

    def __init__(self, kafka: KafkaSettings, topics: list[str], rows: list[Row]) -> None:
        self._kafka, self._topics, self._rows = kafka, topics, iter(rows)
        self._renew = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def renew(self) -> None:
        """Goes on with a new producer: an old one may not find back to a restarted broker."""
        self._renew.set()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._renew.clear()
            producer = Producer(self._kafka.client(linger_ms=2, enable_idempotence=True, log_level=0))
            while not self._stop.wait(0.02) and not self._renew.is_set():
                self._send(producer)
            producer.purge()
            producer.flush(5)

    def _send(self, producer: Producer) -> None:
        for key, value, at in islice(self._rows, 8):
            for topic in self._topics:
                producer.produce(topic, value, key, timestamp=at)
        producer.poll(0)


class Life:
    """The maintainers of one view, one after the other."""

    def __init__(self, kafka: KafkaSettings, home: Path, name: str, seed: int = 0) -> None:
        self.home = home / name
        self.home.mkdir()
        self._kafka, self._rng = kafka, random.Random(seed)
        self._file = view_file(self.home, name)
        self.view: View = load_views(self._file)[name]
        ensure_topics(kafka, self.view)
        self._process: Maintainer | None = None
        self._point, self._until = "", 0.0
        self.deaths: Counter[str] = Counter()
        """How its maintainers ended: the point at which they were killed, `anywhere`, or `by itself`."""

    def tend(self, wanted: list[str]) -> None:
        """Starts a maintainer if there is none, with a trap at one of the points; kills one that has lived too long."""
        if self._process is None:
            self._start(self._rng.choice(wanted or list(POINTS)))
            return
        code = self._process.ended()
        if code is None and time.monotonic() > self._until:
            self._process.kill()
            self._bury("anywhere")
        elif code is not None:
            self._bury(self._point if code == -signal.SIGKILL else "by itself")

    def undisturbed(self) -> Maintainer:
        """A maintainer that lives."""
        self.end()
        return Maintainer(self._kafka, self._file, self.home / "state")

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def logs(self) -> str:
        return "\n".join(file.read_text(errors="replace") for file in sorted(self.home.glob("*.log")))

    def _start(self, point: str) -> None:
        count = self._rng.randint(1, _OFTEN.get(point, 4))
        self._point, self._until = point, time.monotonic() + self._rng.uniform(0.5, 2) * _LIFETIME
        trap = (point, count, signal.SIGKILL)
        self._process = Maintainer(self._kafka, self._file, self.home / "state", trap=trap)

    def _bury(self, how: str) -> None:
        assert self._process is not None
        self.deaths[how] += 1
        self._process.__exit__()
        self._process = None


class Restarts:
    """Restarts a broker in the background, every other time without asking it first.

    One thread does it all and lives until `close`: the broker dies with the thread that started it.
    """

    def __init__(self, broker: Broker, feeder: Feeder, count: int) -> None:
        self._broker, self._feeder, self._count = broker, feeder, count
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.done = 0
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        while self.done < self._count and not self._closing.is_set():
            self._closing.wait(3.0)  # so that there is load between two restarts
            if self.done % 2:
                self._broker.stop()
            else:
                self._broker.kill()
            self._broker.start()
            self._feeder.renew()
            self.done += 1
        self._closing.wait()
        self._broker.stop()
