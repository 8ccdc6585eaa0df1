"""A view with a past: random updates on its topic, and what the maintainer's own code makes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Consumer, Producer, TopicPartition

from maintainer.keyed import KeyedState
from maintainer.state import ViewState, new_state
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from skyline.wire.changes import ChangeRecord, read_change
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from skyline.wire.updates import TICK, write_update

DAY = 86_400_000
START = 1_763_424_000_000 - DAY // 2
"""Noon, 17 November 2025, UTC: half a day of events ends on the next date."""

Update = tuple[bytes, bytes | None, int]


def view_of(name: str, **more: Any) -> View:
    """A view of hotels; a window view has neither groups nor an engine."""
    table: dict[str, Any] = {"dimensions": {"price": "min", "rating": "max"}, "carry": ["label"]}
    if "window" not in more:
        table |= {"group_by": ["city"], "engine": "recompute"}  # the plainest: what the jobs are held against
    return View.of(name, table | more)


def random_updates(seed: int, count: int, *, keys: int = 25, start: int = START, span: int = 2 * DAY) -> list[Update]:
    """Upserts with ties and infinities, modifications, deletions, expiries, ticks and rubbish, in time order."""
    rng = np.random.default_rng(seed)
    updates: list[Update] = []
    for at in (start + np.sort(rng.integers(0, span, count))).tolist():
        key = f"k{rng.integers(keys)}".encode()
        updates.append((key, *_one(rng, at, span)) if rng.random() > 0.03 else (TICK.encode(), None, at))
    return updates


def _one(rng: np.random.Generator, at: int, span: int) -> tuple[bytes | None, int]:
    dice = rng.random()
    if dice < 0.1:
        return None, at
    if dice < 0.13:
        return b"rubbish", at
    if dice < 0.25:
        op = str(rng.choice(["add", "multiply", "average"]))
        return write_update({"$op": op, "price": float(rng.integers(1, 4))}), at
    fields: dict[str, Any] = {
        "price": float(rng.choice([1, 2, 3, 5, 8, np.inf])),
        "rating": float(rng.integers(0, 5)),
        "city": ["oslo", "rome", 7][int(rng.integers(3))],
        "label": [None, "a", {"x": [1, 2]}][int(rng.integers(3))],
    }
    if dice < 0.5:
        fields["valid_until"] = at + int(rng.integers(0, span // 4))
    if dice < 0.3:
        fields["valid_from"] = at - 10 if dice < 0.27 else at + int(rng.integers(0, span // 8))
        fields["valid_until"] = at + span // 3
    return write_update(fields), at


@dataclass
class Market:
    """A view on a broker, run in the test's own process by the maintainer's code."""

    kafka: KafkaSettings
    view: View
    state: ViewState = field(init=False)
    updates: list[Update] = field(default_factory=list)
    changes: list[ChangeRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state = new_state(self.view)
        ensure_topics(self.kafka, self.view)
        self._producer = Producer(self.kafka.client(transactional_id=self.view.name))
        self._producer.init_transactions(30)

    def publish(self, updates: list[Update], batch: int = 50) -> None:
        """Updates to V.updates, and their changes, members and rejects, a transaction per batch."""
        decoder = UpdateDecoder(self.view)
        for first in range(0, len(updates), batch):
            rows = updates[first : first + batch]
            place = self._send(rows)
            records = Records.of([(key, value, at, place + i) for i, (key, value, at) in enumerate(rows)])
            output = self.state.apply(decoder.decode(records))
            self._producer.begin_transaction()
            for out in output.records:
                self._producer.produce(out.topic, out.value, out.key, timestamp=out.timestamp)
                self._producer.poll(0)
                if out.topic == self.view.topic("changes"):
                    assert out.value is not None
                    self.changes.append(read_change(out.value))
            self._commit(place + len(rows))
            self.updates += rows

    def produce(self, kind: str, key: bytes, value: bytes | None, at: int = START) -> None:
        """One record of one's own, to plant an error."""
        self._producer.begin_transaction()
        self._producer.produce(self.view.topic(kind), value, key, timestamp=at)
        self._producer.commit_transaction(30)

    def abort(self, count: int = 5) -> None:
        """A transaction that comes to nothing: no reader may see its records."""
        self._producer.begin_transaction()
        for _ in range(count):
            self._producer.produce(self.view.topic("changes"), b"never", b"x")
            self._producer.produce(self.view.topic("skyline"), b"never", b"x")
        self._producer.flush(30)
        self._producer.abort_transaction(30)

    @property
    def group(self) -> str:
        return f"skyline-maintainer.{self.view.name}"

    def members(self) -> dict[str, tuple[float, ...]]:
        assert isinstance(self.state, KeyedState)
        return {str(key): point for key, point in self.state._live.members().items()}

    def _send(self, rows: list[Update]) -> int:
        """Outside of any transaction, as producers do. -> the offset of the first"""
        sender = Producer(self.kafka.client(linger_ms=5))
        places: list[int] = []
        for key, value, at in rows:
            sender.produce(
                self.view.topic("updates"), value, key, timestamp=at, on_delivery=lambda _, m: places.append(m.offset())
            )
        assert sender.flush(30) == 0
        return min(places)

    def _commit(self, position: int) -> None:
        consumer = Consumer(self.kafka.client(group_id=self.group))
        place = TopicPartition(self.view.topic("updates"), 0, position)
        self._producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), 30)
        self._producer.commit_transaction(30)
        consumer.close()


def views_toml(directory: Path, view: View) -> Path:
    """The view as a file."""
    dimensions = ", ".join(
        f'"{n}" = "{d}"' for n, d in zip(view.dimensions.names, view.dimensions.directions, strict=True)
    )
    lines = [f"[{view.name}]\ndimensions = {{ {dimensions} }}"]
    lines += [f"{key} = {list(names)}" for key, names in (("group_by", view.group_by), ("carry", view.carry)) if names]
    if view.window is None:
        lines.append(f'engine = "{view.engine}"')
    else:
        size, span = view.window.size, view.window.span
        lines.append(f"window = {{ size = {size} }}" if span is None else f"window = {{ span = {span} }}")
    file = directory / f"{view.name}.toml"
    file.write_text("\n".join(lines))
    return file
