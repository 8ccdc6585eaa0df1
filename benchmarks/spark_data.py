"""What benchmarks/spark.py reads: points as Parquet, an archive of changes, a topic of changes. All seeded."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Producer

from benchmarks.datasets import Floats
from skyline.view import View
from skyline.wire.changes import ChangeWriter

START: Final = 1_763_424_000_000
FILES: Final = 4
VIEW: Final = View.of("bench", {"dimensions": {"price": "min", "rating": "max"}})
_OPS: Final = np.array(["enter", "move", "leave"])
_REASONS: Final = np.array(["inserted", "moved", "dominated"])


def write_points(directory: Path, points: Floats) -> str:
    """Points as Parquet, four files, columns d0, d1, ..."""
    directory.mkdir()
    for number, part in enumerate(np.array_split(points, FILES)):
        columns = {f"d{axis}": np.ascontiguousarray(part[:, axis]) for axis in range(part.shape[1])}
        pq.write_table(pa.table(columns), directory / f"{number}.parquet")
    return str(directory)


def write_archive(root: Path, count: int, keys: int = 100_000, seed: int = 1) -> None:
    """An archive of `count` changes over ten days: keys in turn enter, move and leave, at random."""
    rng = np.random.default_rng(seed)
    key = rng.integers(0, keys, count)
    step = _turns(key) % 3
    size = np.cumsum((step == 0).astype(np.int64) - (step == 2))
    at = START + np.sort(rng.integers(0, 10 * 86_400_000, count))
    names = pa.array([f"offer-{number}" for number in range(keys)])
    for day in range(10):
        low, high = np.searchsorted(at, START + 86_400_000 * np.array([day, day + 1]))
        rows = slice(low, high)
        points = np.round(rng.random(2 * (high - low)) * 100, 2)
        table = pa.table(
            {
                "seq": np.arange(low + 1, high + 1),
                "op": pa.array(_OPS[step[rows]]),
                "key": names.take(pa.array(key[rows])),
                "point": pa.MapArray.from_arrays(
                    np.arange(0, len(points) + 1, 2, dtype=np.int32),
                    pa.array(["price", "rating"]).take(pa.array(np.tile([0, 1], high - low))),
                    pa.array(points),
                ),
                "reason": pa.array(_REASONS[step[rows]]),
                "by": names.take(pa.array(np.roll(key[rows], 1))),
                "at": pa.array(at[rows]).cast(pa.timestamp("ms", "UTC")),
                "offset": np.arange(low, high),
                "partition": np.zeros(high - low, np.int64),
                "size": size[rows],
                "group": pa.nulls(high - low, pa.string()),
                "carry": pa.nulls(high - low, pa.string()),
                "log_offset": np.arange(low, high),
            }
        )
        date = np.datetime_as_string(np.datetime64(START, "ms") + np.timedelta64(day, "D"), unit="D")
        place = root / "changes" / f"view={VIEW.name}" / f"date={date}"
        place.mkdir(parents=True)
        pq.write_table(table, place / "000000000000-0.parquet", coerce_timestamps="us")


def _turns(key: np.ndarray) -> np.ndarray:
    """How often each key has come before."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.searchsorted(ordered, ordered)
    turns = np.empty(len(key), np.int64)
    turns[order] = np.arange(len(key)) - first
    return turns


def publish_changes(settings: dict[str, object], count: int, first: int = 1) -> None:
    """Changes `first` to first + count - 1 on the view's changes topic."""
    producer = Producer(
        {**settings, "linger.ms": 50, "queue.buffering.max.messages": 2_000_000, "compression.type": "lz4"}
    )
    writer, topic = ChangeWriter(VIEW), VIEW.topic("changes")
    rng = np.random.default_rng(first)
    points = np.round(rng.random((1024, 2)) * 100, 2).tolist()
    for seq in range(first, first + count):
        key = f"offer-{seq % 9973}"
        value = writer.change(seq, "enter", key, points[seq % 1024], b"", "inserted", key, START + seq, seq, 5000)
        producer.produce(topic, value, key, timestamp=START + seq)
        if seq % 10_000 == 0:
            producer.poll(0)
    if producer.flush(120):
        raise RuntimeError("the broker did not take all changes")
