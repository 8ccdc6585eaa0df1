"""One file into one topic: reads, checks, sends, and remembers what the broker has acknowledged."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from confluent_kafka import KafkaError

from ingest.batch import Batch
from ingest.check import Checker
from ingest.delivery import Delivery, DeliveryFailed
from ingest.files.progress import ProgressFile
from ingest.files.reader import Reader
from ingest.files.report import Report
from ingest.files.tail import Tail
from ingest.publisher import FLUSH_SECONDS, Publisher

_SAVE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class _Leg:
    """A batch under way: once it is acknowledged, `rows` rows of the file are done."""

    rows: int
    delivery: Delivery


class FileRun:
    """Sends one file, once."""

    def __init__(
        self, reader: Reader, topic: str, checker: Checker, publisher: Publisher, report: Report,
        progress: ProgressFile, stop: threading.Event,
    ) -> None:  # fmt: skip
        self._reader, self._topic = reader, topic
        self._checker, self._publisher, self._report = checker, publisher, report
        self._progress, self._stop = progress, stop
        self._under_way: deque[_Leg] = deque()
        self._saved_at = 0.0
        self.rows = 0
        """Rows of the file that need no sending any more: acknowledged or refused, as is every row before them."""
        self._offset = 0

    def send(self, rows: int, offset: int, tail: Tail, on_batch: Callable[[int], None] = lambda _: None) -> bool:
        """Sends what comes after the first `rows`; True when the file is sent to its end.

        `offset` is where the topic ended when those rows had been sent; `on_batch` hears how many rows are read.
        """
        self.rows, self._offset = rows, offset
        self._progress.save(rows, offset)
        try:
            for batch in self._reader.batches(rows):
                rows += len(batch)
                self._forward(batch, rows, tail)
                on_batch(rows)
                if self._stop.is_set():
                    break
            else:
                self._wait()
                return not self._under_way
            self._wait()
            return False
        finally:
            self._progress.save(self.rows, self._offset)

    def _forward(self, batch: Batch, rows: int, tail: Tail) -> None:
        good, refused = self._checker.split(batch)
        self._report.refuse(self._reader.path, refused)
        unsent = tail.without_written(good)
        delivery = Delivery(len(unsent))
        self._publisher.send(self._topic, unsent, delivery)
        self._under_way.append(_Leg(rows, delivery))
        self._publisher.poll(0)
        self._collect()

    def _wait(self) -> None:
        """Until all is acknowledged; after a signal, no longer than a process may take to end."""
        while not self._stop.is_set() and not self._publisher.flush(0.1):
            self._collect()
        self._publisher.flush(FLUSH_SECONDS)
        self._collect()

    def _collect(self) -> None:
        """Takes note of the batches that are wholly acknowledged, in order."""
        while self._under_way and self._under_way[0].delivery.pending == 0:
            leg = self._under_way[0]
            if leg.delivery.failure is not None:
                self._fail(leg.delivery.failure)
                return
            self._under_way.popleft()
            self.rows = leg.rows
            self._offset = max(self._offset, leg.delivery.offset + 1)
            self._report.count(leg.delivery.count)
        if time.monotonic() - self._saved_at > _SAVE_SECONDS:
            self._progress.save(self.rows, self._offset)
            self._saved_at = time.monotonic()

    def _fail(self, failure: KafkaError) -> None:
        if not self._stop.is_set():
            raise DeliveryFailed(
                f"{self._reader.path}: after row {self.rows:,} the broker did not take everything: "
                f"{failure.str()}; run the same command again to go on from there"
            )
