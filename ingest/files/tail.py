"""What a run that was killed had sent beyond its saved progress: read from the topic, so that nothing is doubled.

Progress is saved about once a second. Rows that were written after the last save, by a process that then died, stand
in the topic at the saved offset or later, in the file's order, perhaps between records of other producers. A row that
is found there is not sent again.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from ingest.batch import Batch
from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import Drain
from skyline.runtime.topics import TIMEOUT, KafkaUnreachable

_PARTITION = 0
_GROUP = "skyline-ingest"
_POLL_SECONDS = 0.5
_PASSING = (
    KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC,
)  # fmt: skip
"""What a broker, or the client, says of a topic that was created a moment ago."""

Row = tuple[bytes | None, bytes | None, int]
"""Key, value and timestamp."""

Written = tuple[int, Row]
"""A record, with its offset."""


def ends_of(kafka: KafkaSettings, topic: str) -> tuple[int, int]:
    """(first offset that is kept, offset of the next record) of the topic."""
    deadline = time.monotonic() + TIMEOUT
    with closing(Consumer({**kafka.client(group_id=_GROUP), "log_level": 0})) as consumer:
        while True:
            try:
                first, past = consumer.get_watermark_offsets(TopicPartition(topic, _PARTITION), timeout=TIMEOUT)
                return first, past
            except KafkaException as error:
                if error.args[0].code() not in _PASSING or time.monotonic() > deadline:
                    raise KafkaUnreachable(f"the end of {topic} is unknown: {error.args[0].str()}") from None
            time.sleep(0.05)


def written_since(kafka: KafkaSettings, topic: str, offset: int) -> Generator[Written, None, None]:
    """The records from `offset` to the topic's present end."""
    first, past = ends_of(kafka, topic)
    start = max(offset, first)
    if start >= past:
        return
    # with the end told, which passes offsets without records: silence would not tell a slow broker from the end
    settings = kafka.client(group_id=_GROUP, enable_partition_eof=True)
    with Drain(settings, topic, _PARTITION, start) as drain:
        heard = time.monotonic()
        while drain.position < past:
            records = drain.poll(_POLL_SECONDS)
            for row in range(len(records)):
                if records.offsets[row] < past:
                    key, value, at = records.key(row), records.value(row), int(records.timestamps[row])
                    yield int(records.offsets[row]), (key, value, at)
            if len(records):
                heard = time.monotonic()
            elif time.monotonic() > heard + TIMEOUT:
                raise KafkaUnreachable(f"{topic} cannot be read from offset {drain.position} to its end at {past}")


class Tail:
    """The rows that are already written, met in order."""

    def __init__(self, written: Iterator[Written], compare_time: bool) -> None:
        """`compare_time`: rows have event times of their own, so that a second run gives them the same ones."""
        self._written = written
        self._compare_time = compare_time
        self.found = 0
        self.past = 0
        """Offset after the last row that was found: what comes later in the file is not written before it."""

    def without_written(self, batch: Batch) -> Batch:
        """The rest of the batch, from the first update that is not written yet."""
        for index, wanted in enumerate(zip(batch.keys, batch.values, batch.timestamps, strict=True)):
            place = next((offset for offset, row in self._written if self._same(wanted, row)), None)
            if place is None:
                return batch[index:]
            self.found += 1
            self.past = place + 1
        return batch[len(batch) :]

    def _same(self, wanted: Row, row: Row) -> bool:
        return wanted == row if self._compare_time else wanted[:2] == row[:2]
