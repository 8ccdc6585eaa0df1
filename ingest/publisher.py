"""Sends batches through one idempotent producer, and knows what became of every update.

Idempotent means: while the process lives, an update that was accepted is written once, in order, whatever the
connection does. Its delivery report says so, with the offset; until then it is in flight.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

import orjson
from confluent_kafka import KafkaError, KafkaException, Producer

from ingest.batch import Batch
from ingest.delivery import Delivery, Report
from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings
from skyline.wire.updates import MAX_VALUE_BYTES

QUEUE_MESSAGES: Final = 200_000
FLUSH_SECONDS: Final = 3.0
"""After a signal, what is in flight may take this long: the local stack kills what has not ended after 4 s."""

_PARTITION: Final = 0
"""A view's updates topic has one partition."""

_LARGEST_MESSAGE: Final = 2 * MAX_VALUE_BYTES
"""What passes the check must fit: librdkafka's own limit is a little less than the largest value."""

_LONGEST_TIMEOUT: Final = (2**31 - 1) // 1000
"""Seconds: message.timeout.ms has 31 bits."""

_REPEAT_SECONDS: Final = 30.0


class _Sparingly(logging.Filter):
    """Lets each kind of librdkafka's messages through once in a while: it repeats them many times a second."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind, now = record.getMessage().partition(" ")[0], time.monotonic()
        if now - self._last.get(kind, -_REPEAT_SECONDS) < _REPEAT_SECONDS:
            return False
        self._last[kind] = now
        return True


_LOGGER: Final = logging.getLogger("ingest.kafka")
_LOGGER.addFilter(_Sparingly())


class Publisher:
    """One producer for any number of topics. `send` and `poll` may run in different threads."""

    def __init__(
        self, kafka: KafkaSettings, timeout: float, stop: threading.Event, linger_ms: float = 5.0,
        watch_brokers: bool = False,
    ) -> None:  # fmt: skip
        """`timeout`: seconds after which an update that no broker took counts as failed.

        `watch_brokers`: keep `connected` up to date, once a second, while somebody polls.
        """
        if not 0 < timeout <= _LONGEST_TIMEOUT:
            raise InvalidInput(f"--timeout must be more than 0 and at most {_LONGEST_TIMEOUT} seconds, got {timeout}")
        self._stop = stop
        settings = {
            "linger.ms": linger_ms,
            "batch.num.messages": 100_000,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": QUEUE_MESSAGES,
            "message.max.bytes": _LARGEST_MESSAGE,
            "message.timeout.ms": max(1, round(timeout * 1000)),
            **kafka.client(enable_idempotence=True),
            "error_cb": self._notice,
        }
        if watch_brokers:
            settings |= {"statistics.interval.ms": 1000, "stats_cb": self._count_brokers}
        try:
            self._producer = Producer(settings, logger=_LOGGER)
        except KafkaException as error:
            raise InvalidInput(f"no producer can be made with these settings: {error.args[0].str()}") from None
        self.fatal: KafkaError | None = None
        """Set when the producer can never send again: the process should end."""
        self.connected = False
        """Whether a broker was connected at the last look; only with `watch_brokers`."""

    def trouble(self) -> str | None:
        """A probe: what is wrong beyond repair, or None."""
        return None if self.fatal is None else str(self.fatal)

    @property
    def in_flight(self) -> int:
        """Updates accepted but not yet acknowledged, delivery reports that wait to be read included."""
        return len(self._producer)

    def send(self, topic: str, batch: Batch, delivery: Delivery) -> None:
        """Accepts the whole batch. Waits while the queue is full; once `stop` is set, gives up on the rest instead.

        All of the rest: were a later update accepted after one that was given up, the topic would have a gap.
        """
        given_up: KafkaError | None = None
        rows = zip(batch.keys, batch.values, batch.timestamps, delivery.reports(), strict=False)
        for key, value, at, report in rows:
            error = given_up or self._accept(topic, key, value, at, report)
            if error is not None:
                report(error, None)
                if error.code() == KafkaError._QUEUE_FULL:
                    given_up = error

    def _accept(self, topic: str, key: bytes | None, value: bytes | None, at: int, report: Report) -> KafkaError | None:
        """Puts one update into the queue, or says why it cannot."""
        while True:
            try:
                # by name: the sixth positional argument is not the timestamp, whatever the documentation says
                self._producer.produce(topic, value, key, _PARTITION, on_delivery=report, timestamp=at)
                return None
            except BufferError as full:
                self.poll(0.01)
                if self._stop.is_set():
                    return KafkaError(KafkaError._QUEUE_FULL, str(full))
            except KafkaException as error:
                refusal: KafkaError = error.args[0]
                return refusal

    def poll(self, timeout: float) -> None:
        """Serves delivery reports for up to `timeout` seconds."""
        self._producer.poll(timeout)

    def flush(self, timeout: float) -> bool:
        """Waits until nothing is in flight; False when `timeout` seconds did not suffice."""
        deadline = time.monotonic() + timeout
        while self.in_flight and (left := deadline - time.monotonic()) > 0:
            self._producer.flush(min(left, 0.1))  # in steps, so that a signal is seen
        return self.in_flight == 0

    def drop(self) -> None:
        """Forgets what is still in flight, so that ending the process does not wait for a broker that is gone."""
        self._producer.purge(in_queue=True, in_flight=True, blocking=False)
        self._producer.poll(0)

    def _count_brokers(self, statistics: str) -> None:
        brokers = orjson.loads(statistics)["brokers"].values()
        # the broker's own entry: that of the bootstrap address stays UP after it is no longer used
        self.connected = any(broker["state"] == "UP" and broker["nodeid"] >= 0 for broker in brokers)

    def _notice(self, error: KafkaError) -> None:
        if error.fatal():
            self.fatal = error
            _LOGGER.error("the producer cannot go on: %s", error.str())
        else:
            _LOGGER.debug("%s", error.str())
