"""What the maintainer's tests share: updates to feed it, and what it published."""

from __future__ import annotations

import random
import struct
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import Drain
from skyline.runtime.patience import patiently
from skyline.view import View
from skyline.wire.modify import modified
from skyline.wire.updates import Delete, Upsert, read_update
from tests import naive

START = 1_700_000_000_000
Row = tuple[bytes | None, bytes | None, int]


def view_file(directory: Path, name: str, **table: Any) -> Path:
    """A views.toml with one 2-D view of that name."""
    table = {"dimensions": {"price": "min", "rating": "max"}, "group_by": ["city"], "carry": ["name"], **table}
    lines = [f"[{name}]"]
    for key, value in table.items():
        if isinstance(value, dict):
            value = "{ " + ", ".join(f"{k} = {orjson.dumps(v).decode()}" for k, v in value.items()) + " }"
            lines.append(f"{key} = {value}")
        else:
            lines.append(f"{key} = {orjson.dumps(value).decode()}")
    path = directory / f"{name}.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def updates(seed: int, count: int, objects: int = 60) -> list[Row]:
    """Upserts, moves between groups, deletes, expiries, scheduled objects, modifications, ticks and rejects."""
    rng = random.Random(seed)
    rows: list[Row] = []
    now = START
    for _ in range(count):
        now += rng.choice([0, 1, 1, 5])
        key = f"o{rng.randrange(objects)}".encode()
        fields: dict[str, Any] = {
            "price": rng.randrange(100),
            "rating": rng.choice([rng.randrange(50), rng.random()]),
            "city": rng.choice(["Paris", "Rome"]),
            "name": rng.choice(["x", "y"]),
        }
        kind = rng.random()
        if kind < 0.3:
            fields["valid_until"] = now + rng.randrange(1, 200)
        elif kind < 0.35:
            fields["valid_from"] = now + rng.randrange(1, 50)
        value: bytes | None = orjson.dumps(fields)
        if 0.4 < kind < 0.5:
            value = None
        elif 0.5 < kind < 0.55:
            value = orjson.dumps({"$op": rng.choice(["add", "average"]), "price": rng.randrange(1, 20)})
        elif 0.55 < kind < 0.57:
            value = b"{nonsense"
        elif 0.57 < kind < 0.6:
            key, value = b"$tick", None
        rows.append((key, value, now))
    return rows


def publish(kafka: KafkaSettings, topic: str, rows: Iterable[Row]) -> None:
    producer = Producer(kafka.client(linger_ms=2, enable_idempotence=True))
    for key, value, at in rows:
        producer.produce(topic, value, key, timestamp=at)
        producer.poll(0)
    assert producer.flush(60) == 0


def _group(view: str) -> str:
    return f"skyline-maintainer.{view}"


def committed(kafka: KafkaSettings, view: str) -> int:
    """Updates that the maintainer's group has committed."""
    consumer = Consumer(kafka.client(group_id=_group(view)))
    try:
        place = TopicPartition(f"{view}.updates", 0)
        return int(patiently(lambda: consumer.committed([place], timeout=30))[0].offset)
    finally:
        consumer.close()


def read_all(kafka: KafkaSettings, topic: str) -> list[tuple[bytes | None, bytes | None, int]]:
    """(key, value, timestamp) of every committed record of the topic."""
    settings = kafka.client(group_id="reader", isolation_level="read_committed", enable_partition_eof=True)
    rows: list[tuple[bytes | None, bytes | None, int]] = []
    with Drain(settings, topic, 0, 0) as drain:
        while not drain.at_end:
            records = drain.poll(1.0)
            rows += [(records.key(i), records.value(i), int(records.timestamps[i])) for i in range(len(records))]
    return rows


def transactions(kafka: KafkaSettings, view: View) -> list[list[bytes | None]]:
    """Keys of every committed change, by transaction.

    A transaction is known by the update offset that it committed. Markers in V.changes do not tell: the one of a
    transaction that is decided may be written after the first records of the next.
    """
    ends = committed_offsets(kafka, view.name)
    found: list[list[bytes | None]] = [[] for _ in ends]
    for key, value, _ in read_all(kafka, view.topic("changes")):
        found[bisect_right(ends, orjson.loads(value or b"")["offset"])].append(key)
    return found


def committed_offsets(kafka: KafkaSettings, view: str) -> list[int]:
    """Every offset that the maintainer's group ever committed, ascending: one for each transaction."""
    log = "__consumer_offsets"
    consumer = Consumer(kafka.client(group_id="reader", enable_partition_eof=True, enable_auto_commit=False))
    names = (_group(view).encode(), f"{view}.updates".encode())
    wanted = b"".join(struct.pack(">h", len(name)) + name for name in names)
    ends = []
    try:
        places = consumer.list_topics(log, 30).topics[log].partitions
        consumer.assign([TopicPartition(log, partition, 0) for partition in places])
        reading = set(places)
        while reading:
            for message in consumer.consume(10_000, 1.0):
                if message.error() is not None:
                    assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                    reading.discard(message.partition())
                elif message.key()[2:-4] == wanted and message.value() is not None:
                    ends.append(struct.unpack_from(">q", message.value(), 2)[0])
    finally:
        consumer.close()
    assert ends == sorted(ends)
    return ends


def read_headers(kafka: KafkaSettings, topic: str) -> list[list[tuple[str, bytes]]]:
    """Headers of every committed record of the topic."""
    settings = kafka.client(
        group_id="reader",
        isolation_level="read_committed",
        enable_partition_eof=True,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, 0)])
    headers: list[list[tuple[str, bytes]]] = []
    try:
        while True:
            for message in consumer.consume(10_000, 1.0):
                if message.error() is not None:
                    assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                    return headers
                headers.append(message.headers())
    finally:
        consumer.close()


def check_published(
    kafka: KafkaSettings, view: View, rows: list[Row], expected_changes: list[Any] | None = None
) -> None:
    """V.changes replays to V.skyline, which is the naive skyline; seq has no gap; and all is as in another run."""
    changes = read_all(kafka, view.topic("changes"))
    if expected_changes is not None:
        assert changes == expected_changes
    replayed: dict[str, Any] = {}
    for number, (key, value, at) in enumerate(changes, start=1):
        change = orjson.loads(value or b"")
        assert change["seq"] == number
        assert change["key"].encode() == key
        assert change["at"] == at
        assert (change["op"] == "enter") == (change["key"] not in replayed)
        if change["op"] == "leave":
            del replayed[change["key"]]
        else:
            replayed[change["key"]] = change["point"]
        assert change["size"] == len(replayed)
    table: dict[str, Any] = {}
    for key, value, _ in read_all(kafka, view.topic("skyline")):
        table[(key or b"").decode()] = None if value is None else orjson.loads(value)["point"]
    assert {key: point for key, point in table.items() if point is not None} == replayed
    assert set(replayed) == naive_members(view, rows)


def naive_members(view: View, rows: list[Row]) -> set[str]:
    """The members after these updates, by definition. Modifications are resolved with the reference reader."""
    objects: dict[str, Upsert] = {}
    clock = 0
    for key, value, at in rows:
        clock = max(clock, at)
        result = read_update(view, key, value)
        if not isinstance(result, tuple):
            continue
        name, update = result
        if isinstance(update, Upsert):
            objects[name] = update
        elif isinstance(update, Delete):
            objects.pop(name, None)
        elif name in objects and objects[name].valid_until > clock:
            changed = modified(view, objects[name], update)  # type: ignore[arg-type]
            assert isinstance(changed, Upsert)
            objects[name] = changed
    live = {k: held for k, held in objects.items() if naive.valid(held.valid_from, held.valid_until, clock)}
    points = {k: view.dimensions.inward([held.point])[0].tolist() for k, held in live.items()}
    return naive.members(points, {k: held.group for k, held in live.items()})
