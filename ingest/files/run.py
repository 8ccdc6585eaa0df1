"""One file into one topic: reads, checks, sends, and remembers what the broker has acknowledged."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from ingest.batch import Batch
from ingest.check import Checker
from ingest.delivery import Delivery, DeliveryFailed
from ingest.files.progress import ProgressFile
from ingest.files.reader import Reader
from ingest.files.report import Report
from ingest.files.tail import Tail
from ingest.outbox import Outbox
from ingest.publisher import Publisher

_SAVE_SECONDS: Final = 1.0


class FileRun:
    """Sends one file, once."""

    def __init__(
        self, reader: Reader, topic: str, checker: Checker, publisher: Publisher, report: Report,
        progress: ProgressFile, tail: Tail, stop: threading.Event,
    ) -> None:  # fmt: skip
        self._reader, self._checker, self._report = reader, checker, report
        self._progress, self._tail, self._stop = progress, tail, stop
        self._outbox = Outbox(publisher, topic, stop, self._acknowledged)
        self._saved_at = 0.0
        self.rows = 0
        """Rows of the file that need no sending any more: acknowledged or refused, as is every row before them."""
        self._offset = 0

    def send(self, rows: int, offset: int, on_batch: Callable[[int], None] = lambda _: None) -> bool:
        """Sends what comes after the first `rows`; True when the file is sent to its end.

        `offset` is where the topic ended when those rows had been sent; `on_batch` hears how many rows are read.
        """
        self.rows, self._offset = rows, offset
        self._progress.save(rows, offset)
        try:
            for batch in self._reader.batches(rows):
                rows += len(batch)
                self._forward(batch, rows)
                on_batch(rows)
                if self._stop.is_set():
                    self._outbox.finish()
                    return False
            return self._outbox.finish()
        except DeliveryFailed as failure:
            raise DeliveryFailed(
                f"{self._reader.path}: after row {self.rows:,}: {failure}; run the command again to go on from there"
            ) from None
        finally:
            self._progress.save(self.rows, self._offset)

    def _forward(self, batch: Batch, rows: int) -> None:
        good, refused = self._checker.split(batch)
        self._report.refuse(self._reader.path, refused)
        self._outbox.send(self._tail.without_written(good), rows)

    def _acknowledged(self, delivery: Delivery) -> None:
        self.rows = delivery.mark
        self._offset = max(self._offset, self._tail.past, delivery.offset + 1)
        self._report.count(delivery.count)
        if time.monotonic() - self._saved_at > _SAVE_SECONDS:
            self._progress.save(self.rows, self._offset)
            self._saved_at = time.monotonic()
