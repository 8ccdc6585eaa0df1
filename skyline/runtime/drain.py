"""Reads one partition from a given offset, in batches of flat arrays, as fast as librdkafka delivers.

Python's `Consumer.consume` makes an object, two byte strings and four method calls of every record: about 2 µs each,
with the interpreter locked. Here a batch is one call that waits, and one compiled pass that copies.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from skyline.errors import SkylineError
from skyline.runtime import librdkafka
from skyline.runtime.gather_kernels import gather
from skyline.wire.records import Records

OLDEST: Final = -2
"""Instead of an offset: where the partition begins now."""

MAX_BATCH: Final = 20_000
"""Large enough to spread the cost of a call over many records, small enough to stay in the cache."""

_PASSING: Final = frozenset({librdkafka.ALL_BROKERS_DOWN, librdkafka.TRANSPORT, librdkafka.PARTITION_EOF})
"""Events that need no answer: librdkafka goes on by itself."""


class DrainFailed(SkylineError):
    """The partition can no longer be read."""


class Drain:
    """One partition, from one offset on. Not safe for use from two threads at once."""

    def __init__(self, settings: Mapping[str, Any], topic: str, partition: int, offset: int) -> None:
        """`settings` are librdkafka's; `group.id` must be there, though no group is joined and nothing committed."""
        self.topic, self.partition = topic, partition
        self.position = offset
        """Offset up to which everything was given; at the end also past what is never given, such as markers."""
        self.at_end = False
        """Whether the last poll reached the end of the partition; needs `enable.partition.eof` among the settings."""
        self._handle: int | None = librdkafka.new_consumer(
            {
                "fetch.wait.max.ms": 100,
                "fetch.error.backoff.ms": 50,
                "queued.min.messages": 200_000,
                "queued.max.messages.kbytes": 131_072,
                **settings,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
            }
        )
        self._library = librdkafka.library()
        self._queue = self._library.rd_kafka_queue_get_consumer(self._handle)
        self._messages = np.zeros(MAX_BATCH, dtype=np.int64)
        self._timestamp = librdkafka.address_of("rd_kafka_message_timestamp")
        self._destroy = librdkafka.address_of("rd_kafka_message_destroy")
        librdkafka.assign(self._handle, topic, partition, offset)

    @staticmethod
    def warm_up() -> None:
        """Compiles, or loads from the cache, what `poll` needs."""
        gather(np.zeros(0, dtype=np.int64), 0, 0)

    def poll(self, timeout: float, limit: int = MAX_BATCH) -> Records:
        """What has arrived, at most `limit` records; waits up to `timeout` seconds for the first one."""
        count = self._take(0, 1, round(timeout * 1000))
        if count == 1 and limit > 1:
            count += self._take(1, min(limit, MAX_BATCH) - 1, 0)
        self.at_end = False
        *columns, errors = gather(self._messages[:count], self._timestamp, self._destroy)
        records = Records(*columns)
        if len(records):
            self.position = int(records.offsets[-1]) + 1
        for code, offset in errors.tolist():
            self._notice(code, offset)
        return records

    def close(self) -> None:
        """Stops reading. Idempotent."""
        if self._handle is None:
            return
        for message in self._messages[self._messages != 0].tolist():  # Ctrl-C struck in the middle of a poll:
            self._library.rd_kafka_message_destroy(message)  # librdkafka would wait for these for ever
        self._library.rd_kafka_queue_destroy(self._queue)
        self._library.rd_kafka_consumer_close(self._handle)
        self._library.rd_kafka_destroy(self._handle)
        self._handle = None

    def __enter__(self) -> Drain:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def _take(self, start: int, limit: int, wait_ms: int) -> int:
        if self._handle is None:
            raise DrainFailed(f"{self.topic}[{self.partition}] was closed")
        place = self._messages[start:].ctypes.data_as(ctypes.c_void_p)
        count = int(self._library.rd_kafka_consume_batch_queue(self._queue, wait_ms, place, limit))
        if count < 0:
            raise DrainFailed(f"{self.topic}[{self.partition}] cannot be read: librdkafka refused the call")
        return count

    def _notice(self, code: int, offset: int) -> None:
        if code == librdkafka.PARTITION_EOF:
            self.at_end, self.position = True, max(self.position, offset)
        if code in _PASSING:
            return
        place = offset if offset >= 0 else self.position
        raise DrainFailed(
            f"{self.topic}[{self.partition}] cannot be read at offset {place}: {librdkafka.error_text(code)}"
        )
