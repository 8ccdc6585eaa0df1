"""The skyline at every snapshot is what the definitions make of the updates up to then, sliced or not."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession

from skyline.errors import InvalidInput
from skyline.view import View
from skyline.wire.modify import modified
from skyline.wire.rejects import Rejected
from skyline.wire.updates import Modification, Tick, Upsert, read_update, write_update
from spark_jobs import replay
from spark_jobs.cli import JobError
from spark_jobs.replay import Snapshots, main, transform
from tests import naive
from tests.spark_jobs.market import START, Update, random_updates, view_of, views_toml

pytestmark = pytest.mark.spark

HOUR = 3_600_000
Point = tuple[float, ...]


def logged(spark: SparkSession, updates: Iterable[Update], parts: int = 3) -> DataFrame:
    """Updates as the archive holds them."""
    rows = [
        (bytearray(key), None if value is None else bytearray(value), datetime.fromtimestamp(at / 1000, UTC), offset)
        for offset, (key, value, at) in enumerate(updates)
    ]
    return spark.createDataFrame(rows, "key binary, value binary, at timestamp, log_offset bigint").repartition(parts)


def members(view: View, updates: list[Update], at: int) -> dict[str, Point]:
    """Applies the updates one by one, and lets the definition choose."""
    objects: dict[str, Upsert] = {}
    clock = 0
    for key, value, timestamp in updates:
        clock = max(clock, timestamp)
        read = read_update(view, key, value)
        if isinstance(read, Rejected) or isinstance(read[1], Tick):
            continue
        name, update = read
        if isinstance(update, Modification):
            held = objects.get(name)
            result = modified(view, held, update) if held and held.valid_until > clock else None
            if isinstance(result, Upsert):
                objects[name] = result
        elif isinstance(update, Upsert):
            objects[name] = update
        else:
            objects.pop(name, None)
    live = {key: held for key, held in objects.items() if naive.valid(held.valid_from, held.valid_until, at)}
    points = {key: (held.point[0], -held.point[1]) for key, held in live.items()}
    chosen = naive.members(points, {key: held.group for key, held in live.items()})
    return {key: live[key].point for key in chosen}


def snapshots_of(found: DataFrame) -> dict[tuple[int, int], dict[str, Point]]:
    """Members by (snapshot, time)."""
    by_snapshot: dict[tuple[int, int], dict[str, Point]] = {}
    for row in found.collect():
        place = (row.snapshot, round(row["at"].timestamp() * 1000))
        by_snapshot.setdefault(place, {})[row.key] = (row.point["price"], row.point["rating"])
    return by_snapshot


@pytest.fixture(scope="module")
def updates() -> list[Update]:
    return random_updates(4, 260, span=60 * HOUR)


@pytest.mark.parametrize(("engine", "records"), [("forest", 60), ("boxes", 1 << 20)])
def test_by_period(
    spark: SparkSession, updates: list[Update], monkeypatch: pytest.MonkeyPatch, engine: str, records: int
) -> None:
    monkeypatch.setattr(replay, "SLICE", records)  # of 260: five slices, or as many as there are cores
    view = view_of("v")
    found = snapshots_of(transform(logged(spark, updates), view, Snapshots(period=HOUR), engine))
    clocks = np.maximum.accumulate([at for _, _, at in updates])
    first, last = -(-int(clocks[0]) // HOUR), -(-int(clocks[-1]) // HOUR)
    expected = {}
    for number in range(first, last + 1):
        until = int(np.searchsorted(clocks, number * HOUR, side="right"))
        expected[number, number * HOUR] = members(view, updates[:until], number * HOUR)
    assert last - first > 20
    assert found == {place: shown for place, shown in expected.items() if shown}


@pytest.mark.parametrize("engine", ["forest", "boxes"])
@pytest.mark.parametrize("count", [1, 37])
def test_by_count(spark: SparkSession, updates: list[Update], engine: str, count: int) -> None:
    view, some = view_of("v"), updates[: 80 if count == 1 else None]
    found = snapshots_of(transform(logged(spark, some), view, Snapshots(count=count), engine))
    expected = {}
    for number in range(-(-len(some) // count)):
        seen = some[: (number + 1) * count]
        at = max(at for _, _, at in seen)
        expected[number, at] = members(view, seen, at)
    assert found == {place: shown for place, shown in expected.items() if shown}


def test_time_never_runs_backwards(spark: SparkSession) -> None:
    """A record that comes late counts from when it came."""
    view = view_of("v", group_by=[], carry=[])
    offer = write_update({"price": 1.0, "rating": 1.0})
    log = [(b"a", offer, START + 5 * HOUR), (b"b", offer, START + HOUR), (b"c", offer, START + 9 * HOUR)]
    found = snapshots_of(transform(logged(spark, log), view, Snapshots(period=HOUR)))
    shown = {at: sorted(keys) for (_, at), keys in found.items()}
    assert shown[START + 5 * HOUR] == ["a", "b"]
    assert min(shown) == START + 5 * HOUR


def test_from_an_archive_to_files(spark: SparkSession, updates: list[Update], tmp_path: Path, unique: str) -> None:
    view, root, out = view_of(unique), tmp_path / "archive", tmp_path / "out"
    rows = logged(spark, updates[:60]).selectExpr("*", "to_date(at) as date")
    rows.write.partitionBy("date").parquet(str(root / "updates" / f"view={unique}"))
    command = ["--views", str(views_toml(tmp_path, view)), "--root", str(root), "--out", str(out)]
    assert main([*command, "--count", "60"]) == 0
    found = snapshots_of(spark.read.parquet(str(out)))
    at = max(at for _, _, at in updates[:60])
    assert found == {(0, at): members(view, updates[:60], at)}


def test_what_cannot_be_replayed_is_said(spark: SparkSession, updates: list[Update]) -> None:
    log, view = logged(spark, updates[:20]), view_of("v")
    with pytest.raises(JobError, match="begin at offset 5: objects from before are unknown"):
        transform(log.where("log_offset >= 5"), view, Snapshots(count=5))
    with pytest.raises(JobError, match="there is no update of v"):
        transform(log.where("log_offset < 0"), view, Snapshots(count=5))
    with pytest.raises(InvalidInput, match="is a window view"):
        transform(log, view_of("w", window={"size": 5}), Snapshots(count=5))
    with pytest.raises(InvalidInput, match="engine must be one of forest, boxes"):
        transform(log, view, Snapshots(count=5), "magic")
    with pytest.raises(InvalidInput, match=r"snapshots are more than 10,000,000: choose a longer period"):
        transform(logged(spark, updates), view, Snapshots(period=1))
    with pytest.raises(InvalidInput, match="either by period or by count"):
        Snapshots()
