"""Batches under way to one topic: counted in order once the broker acknowledges them; the first failure ends it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from ingest.batch import Batch
from ingest.delivery import Delivery, DeliveryFailed
from ingest.publisher import FLUSH_SECONDS, Publisher

_STEP: Final = 0.1


class Outbox:
    """Sends to one topic from one thread. `acknowledged` hears of each batch, in order, once it is wholly written."""

    def __init__(
        self, publisher: Publisher, topic: str, stop: threading.Event, acknowledged: Callable[[Delivery], None]
    ) -> None:
        self._publisher, self._topic, self._stop = publisher, topic, stop
        self._acknowledged = acknowledged
        self._under_way: deque[Delivery] = deque()
        self.written = 0
        """Updates acknowledged."""

    def send(self, batch: Batch, mark: int = 0) -> None:
        """Accepts a batch and collects what is done. `mark`: where the source stands once the batch is written."""
        delivery = Delivery(len(batch), mark)
        self._under_way.append(delivery)
        self._publisher.send(self._topic, batch, delivery)
        self._publisher.poll(0)
        self.collect()

    def finish(self) -> bool:
        """Waits until all is acknowledged: True. After a signal, no longer than a process may take to end."""
        while not self._stop.is_set() and not self._publisher.flush(_STEP):
            self.collect()
        self._publisher.flush(FLUSH_SECONDS)
        self.collect()
        return not self._under_way

    def collect(self) -> None:
        """Takes note of what is acknowledged. Raises DeliveryFailed, unless a signal made an end to it anyway."""
        while self._under_way and self._under_way[0].pending == 0:
            delivery = self._under_way[0]
            if delivery.failure is not None:
                if self._stop.is_set():
                    return
                raise DeliveryFailed(f"{self._topic}: the broker did not take everything: {delivery.failure.str()}")
            self._under_way.popleft()
            self.written += delivery.count
            self._acknowledged(delivery)
