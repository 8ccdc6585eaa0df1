"""Send the archived updates of a view to its empty topic again, byte for byte and in their order."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import KafkaError, Message, Producer

from deploy.cli.reading import end_of
from deploy.cli.target import add_target_arguments, target
from skyline.errors import InvalidInput, SkylineError
from skyline.runtime.topics import LARGEST_RECORD, ensure_topics

_SECONDS: Final = 120.0
_COLUMNS: Final = ["key", "value", "at", "log_offset"]


@dataclass(frozen=True)
class Part:
    """One file, and the offsets of its first and last record."""

    path: Path
    first: int
    last: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_arguments(parser)
    parser.add_argument(
        "--archive", type=Path, required=True, metavar="DIR", help="root of an archive that was made with --updates"
    )


def run(arguments: argparse.Namespace) -> int:
    view, kafka = target(arguments)
    parts = find_parts(arguments.archive, view.name)
    ensure_topics(kafka, view)
    topic = view.topic("updates")
    if end_of(kafka, topic)[1] > 0:
        raise InvalidInput(f"{topic} is not empty: a restore starts with an empty topic, delete it first")
    # as large as the topic may hold: what was rejected as too large is an update too, and has an offset
    settings = kafka.client(acks="all", enable_idempotence=True, linger_ms=20, message_max_bytes=LARGEST_RECORD)
    sender = _Sender(Producer(settings), topic)
    for rows in in_order(parts):
        sender.send(rows)
    sender.finish()
    print(f"{topic}: {sender.sent:,} updates restored from {len(parts)} files")
    return 0


def find_parts(root: Path, view: str) -> list[Part]:
    """The files of the view's updates, by their first offset. Reads footers only."""
    found = []
    for path in sorted((root / "updates" / f"view={view}").rglob("*.parquet")):
        footer = pq.read_metadata(path)
        column = footer.schema.names.index("log_offset")
        groups = [footer.row_group(i).column(column).statistics for i in range(footer.num_row_groups)]
        if groups:
            found.append(Part(path, min(group.min for group in groups), max(group.max for group in groups)))
    if not found:
        raise InvalidInput(f"{root} holds no updates of view {view!r}: was it archived with --updates?")
    return sorted(found, key=lambda part: part.first)


def in_order(parts: list[Part]) -> Iterator[pa.Table]:
    """The rows by offset, from 0 on without a gap. Holds files that overlap in memory, and no others."""
    expected = 0
    while parts:
        together = [parts[0]]
        while len(together) < len(parts) and parts[len(together)].first <= max(part.last for part in together):
            together.append(parts[len(together)])
        parts = parts[len(together) :]
        rows = pa.concat_tables([pq.ParquetFile(part.path).read(_COLUMNS) for part in together]).sort_by("log_offset")
        offsets = rows["log_offset"].to_numpy()
        gaps = [i for i in range(len(offsets)) if offsets[i] != expected + i]
        if gaps:
            raise SkylineError(
                f"the archive is not whole: after offset {expected + gaps[0] - 1} comes {offsets[gaps[0]]}; "
                f"what comes before it has been sent"
            )
        expected += len(offsets)
        yield rows


class _Sender:
    """Sends rows, and knows whether all arrived."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer, self._topic = producer, topic
        self._failure: KafkaError | None = None
        self.sent = 0

    def send(self, rows: pa.Table) -> None:
        columns: list[list[Any]] = [rows["key"].to_pylist(), rows["value"].to_pylist()]
        times = rows["at"].cast(pa.timestamp("ms")).cast(pa.int64()).to_pylist()
        if min(times) <= 0:  # librdkafka takes 0 for "now": the clock of the view would jump
            raise SkylineError("an update with the event time 1970 or earlier cannot be sent as it was")
        for key, value, at in zip(*columns, times, strict=True):
            while True:
                try:
                    self._producer.produce(self._topic, value, key, timestamp=at, on_delivery=self._notice)
                    break
                except BufferError:
                    self._producer.poll(0.1)
            self._producer.poll(0)

    def finish(self) -> None:
        left = self._producer.flush(_SECONDS)
        if self._failure is not None or left:
            raise SkylineError(f"not all updates were written to {self._topic}: {self._failure or f'{left} are left'}")

    def _notice(self, error: KafkaError | None, _message: Message) -> None:
        self._failure = self._failure or error
        self.sent += error is None
