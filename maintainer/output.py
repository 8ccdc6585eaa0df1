"""What a batch of updates made: records to publish, and the state of the log that they bring it to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Out:
    """One record to publish."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: list[tuple[str, bytes]] | None = None


@dataclass(slots=True)
class Output:
    """Everything that one batch, or several in a row, asks to be published in one transaction."""

    position: int
    """Offset after the last update that is in."""
    seq: int
    """Number of the last change that is in."""
    clock: int
    members: int
    objects: int
    updates: int = 0
    records: list[Out] = field(default_factory=list)
    changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)

    def extend(self, later: Output) -> None:
        """Takes in the output of the batch that follows."""
        self.position, self.seq, self.clock = later.position, later.seq, later.clock
        self.members, self.objects = later.members, later.objects
        self.updates += later.updates
        self.records += later.records
        self.changes += later.changes
        self.rejected += later.rejected


def kafka_time(at: int) -> int:
    """The timestamp of a record about event time `at`: librdkafka reads 0 as "now", and Kafka has no time before 0."""
    return max(1, at)
