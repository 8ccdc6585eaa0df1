"""A hundred thousand records of every bad kind: each is applied, or on V.rejected with its reason, in order."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import Producer

from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from skyline.wire.modify import modified
from skyline.wire.rejects import REASONS, Rejected
from skyline.wire.updates import Delete, Modification, Upsert, read_update
from tests.maintainer.harness import START, Row, check_published, committed, read_all, read_headers, view_file
from tests.maintainer.process import Maintainer

pytestmark = pytest.mark.kafka
RECORDS = 100_000
LARGE = 10_000_000


def fuzzed(seed: int, count: int) -> list[Row]:
    rng = random.Random(seed)
    now, rows = START, list[Row]()
    for number in range(count):
        now += rng.choice([0, 0, 1, 3, 1000])
        at = now - rng.choice([0, 0, 0, 5, 10**9])  # clocks of producers jump back
        value = b'"' + b"x" * LARGE + b'"' if number in (count // 3, count // 2) else _value(rng, now)
        rows.append((_key(rng), value, at))
    return rows


def _key(rng: random.Random) -> bytes | None:
    if rng.random() < 0.9:
        return b"o%d" % rng.randrange(150)
    return rng.choice([None, b"", b"$tick", b"$other", b"\xff\xfe", b"k" * 256, b"k" * 257, "ключ".encode()])


def _value(rng: random.Random, now: int) -> bytes | None:
    fields: dict[str, Any] = {"price": rng.randrange(100), "rating": rng.random(), "city": rng.choice(["a", "b"])}
    kind = rng.randrange(12)
    if kind < 4:
        return orjson.dumps(fields)
    if kind == 4:
        return orjson.dumps({**fields, "valid_until": now + rng.randrange(-50, 500)})
    if kind == 5:
        return orjson.dumps({"$op": rng.choice(["add", "multiply", "average", "patch", "divide"]), "price": 2})
    if kind == 6:
        return None
    if kind == 7:
        odd = rng.choice([None, True, "12", "Infinity", [], {}, 2**60, 1e308, "NaN", -0.0])
        return orjson.dumps({**fields, rng.choice([*fields, "name", "valid_from", "other"]): odd})
    if kind == 8:
        broken = orjson.dumps(fields)
        return rng.choice([broken[: rng.randrange(len(broken))], b"[1]", b"7", b"null", b"{}"])
    if kind == 9:
        flipped = bytearray(orjson.dumps(fields))
        flipped[rng.randrange(len(flipped))] = rng.randrange(256)
        return bytes(flipped)
    if kind == 10:
        depth = rng.choice([10, 300, 1000, 5000])
        place = rng.choice([b"price", b"name", b"other"])
        return b'{"rating":1,"city":"a","price":1,"%b":%b}' % (place, b"[" * depth + b"]" * depth)
    number = rng.choice([b"1e400", b"-1e400", b"NaN", b"1" * 400, b"1e-400", b"0x1", b"01"])
    return b'{"rating":1,"city":"a","price":%b}' % number


def expected_rejects(view: View, rows: list[Row]) -> list[tuple[int, Rejected]]:
    """(offset, why) of every record that cannot be applied, by the reference reader, one record at a time."""
    objects: dict[str, Upsert] = {}
    rejects: list[tuple[int, Rejected]] = []
    clock = 0
    for offset, (key, value, at) in enumerate(rows):
        clock = max(clock, at)
        result = read_update(view, key, value)
        if isinstance(result, tuple) and isinstance(result[1], Modification):
            result = _modified(view, objects.get(result[0]), result[0], result[1], clock)
        if isinstance(result, Rejected):
            rejects.append((offset, result))
        elif isinstance(result[1], Upsert):
            objects[result[0]] = result[1]
        elif isinstance(result[1], Delete):
            objects.pop(result[0], None)
    return rejects


def _modified(
    view: View, known: Upsert | None, key: str, change: Modification, clock: int
) -> tuple[str, Upsert] | Rejected:
    if known is None or known.valid_until <= clock:
        return Rejected("unknown_object", f"$op {change.op} on {key!r}, which is not there")
    result = modified(view, known, change)
    return result if isinstance(result, Rejected) else (key, result)


def test_every_record_is_applied_or_rejected_with_its_reason(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    views = view_file(tmp_path, unique)
    view = load_views(views)[unique]
    ensure_topics(kafka, view)
    rows = fuzzed(seed=41, count=RECORDS)
    producer = Producer(kafka.client(message_max_bytes=16 * 2**20, queue_buffering_max_messages=2 * RECORDS))
    for key, value, at in rows:
        producer.produce(view.topic("updates"), value, key, timestamp=at)
    assert producer.flush(120) == 0
    with Maintainer(kafka, views, tmp_path / "state") as maintainer:
        maintainer.until(lambda: committed(kafka, unique) == RECORDS, "everything committed")
        assert maintainer.stop() == 0, maintainer.text()
    rejects = expected_rejects(view, rows)
    topic = view.topic("updates")
    assert read_headers(kafka, view.topic("rejected")) == [why.headers(topic, 0, offset) for offset, why in rejects]
    told = [(key, value) for key, value, _ in read_all(kafka, view.topic("rejected"))]
    assert told == [rows[offset][:2] for offset, _ in rejects]
    reasons = Counter(why.reason for _, why in rejects)
    assert set(reasons) == set(REASONS)
    print(f"{RECORDS:,} records: {RECORDS - len(rejects):,} applied, {len(rejects):,} rejected: {dict(reasons)}")
    check_published(kafka, view, rows)
