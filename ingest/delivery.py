"""What became of a batch that was sent, told by the broker's delivery reports."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat

from confluent_kafka import KafkaError, Message

from skyline.errors import SkylineError

Report = Callable[[KafkaError | None, Message | None], object]


class DeliveryFailed(SkylineError):
    """The broker, or the time limit, refused an update that had been accepted for sending."""


class Delivery:
    """A batch as a whole: how many updates are pending, the offset of the last one, the first failure.

    Reports of one partition come in the order of sending, as long as none is a failure. `mark` is the sender's own.
    """

    def __init__(self, count: int, mark: int = 0) -> None:
        self.count = self.pending = count
        self.mark = mark
        self.offset = -1
        self.failure: KafkaError | None = None
        self._lock = threading.Lock()

    def reports(self) -> Iterable[Report]:
        """What to call for each update, in order."""
        return repeat(self.report)

    def report(self, error: KafkaError | None, message: Message | None) -> bool:
        """One update was written, or failed; True for the last of them."""
        with self._lock:
            if error is not None:
                self.failure = self.failure or error
            elif message is not None:
                self.offset = message.offset()
            self.pending -= 1  # last: who sees 0 sees the rest too
            return self.pending == 0


class Receipt(Delivery):
    """Each update by itself: `offsets[i]`, or `failures[i]`. `done` is called once, by whoever reports the last."""

    def __init__(self, count: int, done: Callable[[], None]) -> None:
        super().__init__(count)
        self.offsets: list[int | None] = [None] * count
        self.failures: dict[int, KafkaError] = {}
        self._done = done

    def reports(self) -> Iterable[Report]:
        return [partial(self._report_one, index) for index in range(self.count)]

    def _report_one(self, index: int, error: KafkaError | None, message: Message | None) -> None:
        if error is not None:
            self.failures[index] = error
        elif message is not None:
            self.offsets[index] = message.offset()
        if self.report(error, message):
            self._done()
