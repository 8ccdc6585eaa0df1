"""Sends batches for requests that wait: a thread serves the delivery reports, the event loop hears of the last one."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress
from typing import Final

from ingest.batch import Batch
from ingest.delivery import Receipt
from ingest.publisher import Publisher

_log = logging.getLogger("ingest.http")
_POLL_SECONDS: Final = 0.1


class Sender:
    """Awaitable sending. Updates are written in the order in which `send` is called."""

    def __init__(self, publisher: Publisher, stop: threading.Event) -> None:
        """`stop` is set when the producer can never send again."""
        self._publisher, self._stop = publisher, stop
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._serve_reports, name="reports", daemon=True)
        self._thread.start()

    async def send(self, topic: str, batch: Batch) -> Receipt:
        """Returns once every update is written or has failed. Never blocks while the producer's queue has room."""
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(done.set)

        receipt = Receipt(len(batch), tell)
        if len(batch):
            self._publisher.send(topic, batch, receipt)
            await done.wait()
        return receipt

    def close(self) -> None:
        """Ends the thread. What is still under way is dropped."""
        self._publisher.drop()
        self._closed.set()
        self._thread.join()

    def _serve_reports(self) -> None:
        try:
            while not self._closed.is_set():
                self._publisher.poll(_POLL_SECONDS)
                if self._publisher.fatal is not None:
                    self._stop.set()
        except BaseException:
            _log.exception("delivery reports cannot be served any more")
            self._stop.set()
            raise
