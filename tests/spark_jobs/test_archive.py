"""The archive holds every committed record once, whatever was killed on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pyarrow
import pyarrow.dataset
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skyline.runtime.config import KafkaSettings
from spark_jobs import archive_reading
from spark_jobs.archive import Pace, archive, follow, main
from spark_jobs.archive_reading import kept, read_archive
from spark_jobs.archive_store import COMPACT_AT, ArchiveStore, worth_merging
from spark_jobs.cli import JobError
from spark_jobs.kafka import Kafka
from spark_jobs.storage import Entry, Storage
from tests.spark_jobs.market import Market, random_updates, view_of, views_toml

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def run(spark: SparkSession, kafka: Kafka, market: Market, root: Path, kind: str = "changes", batch: int = 60) -> None:
    follow([archive(spark, kafka, market.view, kind, str(root), Pace(batch=batch, compact=False))])


def archived(root: Path, view: str, kind: str = "changes") -> list[int]:
    """Offsets that a reader sees who knows nothing of Spark, in order, as often as they are there."""
    files = pyarrow.dataset.dataset(root / kind / f"view={view}", partitioning="hive")
    return sorted(files.to_table(columns=["log_offset"])["log_offset"].to_pylist())


@pytest.fixture
def market(kafka: KafkaSettings, unique: str) -> Market:
    made = Market(kafka, view_of(unique))
    made.publish(random_updates(1, 160))
    made.abort()
    made.publish(random_updates(2, 60, start=made.updates[-1][2]))
    return made


def test_changes_are_archived_field_by_field_and_aborted_ones_are_not(
    spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path
) -> None:
    run(spark, topics, market, tmp_path)
    rows = read_archive(spark, str(tmp_path), "changes", market.view.name).orderBy("seq").collect()
    assert [row.seq for row in rows] == [change.seq for change in market.changes]
    assert len({row.date for row in rows}) > 1
    for row, change in zip(rows, market.changes, strict=True):
        assert (row.view, row.op, row.key, row.point) == (market.view.name, change.op, change.key, change.point)
        assert (row.reason, row.by, row.offset, row.partition, row["size"]) == (
            change.reason, change.by, change.offset, change.partition, change.size,
        )  # fmt: skip
        assert (orjson.loads(row.group), orjson.loads(row.carry)) == (change.group, change.carry)
        assert round(row["at"].timestamp() * 1000) == change.at
        assert row.date == row["at"].date()
    plain = pyarrow.dataset.dataset(tmp_path / "changes").schema  # as readers other than Spark see it
    assert plain.field("at").type == pyarrow.timestamp("us", "UTC")


def test_updates_are_archived_byte_by_byte(spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path) -> None:
    run(spark, topics, market, tmp_path, "updates")
    rows = read_archive(spark, str(tmp_path), "updates", market.view.name).orderBy("log_offset").collect()
    found = [
        (bytes(row.key), None if row.value is None else bytes(row.value), round(row["at"].timestamp() * 1000))
        for row in rows
    ]
    assert found == market.updates


def crash_at(step: str, count: int) -> Callable[[pytest.MonkeyPatch], None]:
    """The storage fails at its `count`-th call of `step`, before anything is done."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        real = getattr(Storage, step)
        calls = [0]

        def failing(self: Storage, *arguments: str) -> object:
            calls[0] += 1
            if calls[0] == count:
                raise OSError("the machine is gone")
            return real(self, *arguments)

        monkeypatch.setattr(Storage, step, failing)

    return patch


@pytest.mark.parametrize(("step", "count"), [("write", 2), ("write", 3), ("move", 2), ("move", 3), ("move", 5)])
def test_a_batch_that_breaks_off_anywhere_is_there_once_after_a_restart(
    spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str,
    count: int,
) -> None:  # fmt: skip
    with monkeypatch.context() as patched:
        crash_at(step, count)(patched)
        with pytest.raises(StreamingQueryException, match="the machine is gone"):
            run(spark, topics, market, tmp_path, batch=100)
    before = archived(tmp_path, market.view.name) if (tmp_path / "changes").exists() else []
    assert len(before) == len(set(before)) < len(market.changes)
    run(spark, topics, market, tmp_path, batch=100)
    offsets = archived(tmp_path, market.view.name)
    assert len(offsets) == len(set(offsets)) == len(market.changes)


def dated(spark: SparkSession, offsets: range, day: int = 18) -> DataFrame:
    rows = [(offset, datetime(2026, 11, day, tzinfo=UTC)) for offset in offsets]
    return spark.createDataFrame(rows, "log_offset long, at timestamp").coalesce(1)


@pytest.mark.parametrize(("step", "count"), [("write", 1), ("remove", 4), ("move", 2), (None, 0)])
def test_compaction_changes_the_files_and_not_the_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str | None, count: int
) -> None:
    store = ArchiveStore.at(spark, str(tmp_path), "updates", "v")
    for batch in range(6):
        store.put(dated(spark, range(batch * 10, batch * 10 + 10), 17 + batch // 3), batch)
    assert len(store.files()) == 6
    if step is not None:
        with monkeypatch.context() as patched:
            crash_at(step, count)(patched)
            with pytest.raises(OSError, match="the machine is gone"):
                store.compact()
        if step != "write":  # the journal is there: half of it was carried out
            monkeypatch.setattr(archive_reading, "_PATIENCE_SECONDS", 0.0)
            with pytest.raises(JobError, match=r"is incomplete: .* run spark_jobs.archive again"):
                read_archive(spark, str(tmp_path), "updates", "v")
    store.compact()
    assert len(store.files("date=2026-11-17")) == 1
    assert len(store.files("date=2026-11-18")) == 3  # the newest date waits for more
    assert store.compact(["date=2026-11-18"], at_least=3) == 2
    assert archived(tmp_path, "v", "updates") == list(range(60))
    assert read_archive(spark, str(tmp_path), "updates", "v").count() == 60


def test_a_batch_that_was_merged_before_spark_knew_of_it_is_not_put_again(spark: SparkSession, tmp_path: Path) -> None:
    store = ArchiveStore.at(spark, str(tmp_path), "updates", "v")
    for batch in range(3):
        store.put(dated(spark, range(batch * 10, batch * 10 + 10)), batch)
    assert store.compact(at_least=3) == 2
    store.put(dated(spark, range(20, 30)), 2)
    assert archived(tmp_path, "v", "updates") == list(range(30))


def test_a_merge_that_broke_off_is_ended_by_a_job_that_does_not_compact(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ArchiveStore.at(spark, str(tmp_path), "updates", "v").taken()
    for batch in range(3):
        store.put(dated(spark, range(batch * 10, batch * 10 + 10)), batch)
    with monkeypatch.context() as patched:
        crash_at("remove", 4)(patched)
        with pytest.raises(OSError, match="the machine is gone"):
            store.compact(at_least=3)
    later = ArchiveStore.at(spark, str(tmp_path), "updates", "v").taken()
    assert archived(tmp_path, "v", "updates") == list(range(30))
    later.put(dated(spark, range(30, 40)), 3)
    assert read_archive(spark, str(tmp_path), "updates", "v").count() == 40


def test_the_job_that_came_last_owns_the_archive(spark: SparkSession, tmp_path: Path) -> None:
    """Both work at the same batch, as after a restart; only one can have put it there."""
    first = ArchiveStore.at(spark, str(tmp_path), "updates", "v").taken()
    first.put(dated(spark, range(10)), 0)
    staged = first._stage(dated(spark, range(10, 20)))
    second = ArchiveStore.at(spark, str(tmp_path), "updates", "v").taken()
    with pytest.raises(JobError, match=r"another archive job has taken over .*view=v: only one can fill it"):
        first.put(dated(spark, range(10, 20)), 1)
    assert archived(tmp_path, "v", "updates") == list(range(10))
    second.put(dated(spark, range(10, 20)), 1)
    assert archived(tmp_path, "v", "updates") == list(range(20))
    assert not any(first.storage.exists(entry.path) for entry in staged)


def test_files_stay_until_their_readers_are_done(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ArchiveStore.at(spark, str(tmp_path), "updates", "v").taken()
    for batch in range(3):
        store.put(dated(spark, range(batch * 10, batch * 10 + 10)), batch)
    with kept(spark, str(tmp_path), "updates", "v") as rows:
        assert store.compact(at_least=3) == 0
        assert rows.count() == 30
        # a reader may come while files are being merged
        seen = iter([False])
        with monkeypatch.context() as late:
            real = ArchiveStore._is_read
            late.setattr(ArchiveStore, "_is_read", lambda self: next(seen, None) is None and real(self))
            assert store.compact(at_least=3) == 0
        assert rows.count() == 30
    monkeypatch.setattr(archive_reading, "_LEASE_SECONDS", -1)  # the reader was killed, and it is long ago
    with kept(spark, str(tmp_path), "updates", "v"):
        assert store.compact(at_least=3) == 2
    assert archived(tmp_path, "v", "updates") == list(range(30))


def test_any_time_that_a_record_may_have_is_archived(spark: SparkSession, tmp_path: Path) -> None:
    """From 285,000 years before 1970 to as many after it: instants lie within 2**53 milliseconds."""
    times = [-(2**53), -62_135_596_800_001, -1, 0, 253_402_300_800_000, 2**53]
    rows = spark.createDataFrame(list(enumerate(times)), "log_offset long, milliseconds long")
    store = ArchiveStore.at(spark, str(tmp_path), "updates", "v").taken()
    store.put(rows.select("log_offset", F.timestamp_millis("milliseconds").alias("at"), F.lit("v").alias("view")), 0)
    found = read_archive(spark, str(tmp_path), "updates", "v").orderBy("log_offset")
    same = F.to_date("at") == F.col("date")
    assert [tuple(row) for row in found.select(F.unix_millis("at"), same).collect()] == [(at, True) for at in times]


def test_a_views_name_is_text(spark: SparkSession, tmp_path: Path) -> None:
    for view in ("2024", "1e5"):
        store = ArchiveStore.at(spark, str(tmp_path), "updates", view)
        store.put(dated(spark, range(10)), 0)
        assert {row.view for row in read_archive(spark, str(tmp_path), "updates", view).collect()} == {view}


def test_however_small_the_batches_a_row_is_seldom_rewritten() -> None:
    """A file per batch, as compact() would merge them, for a day of batches."""
    files: list[Entry] = []
    rewritten = 0
    for batch in range(2880):
        files.append(Entry(f"{batch:05d}", 1000))
        worth = worth_merging(files)
        if len(worth) >= COMPACT_AT:
            size = sum(entry.size for entry in worth)
            files = [entry for entry in files if entry not in worth] + [Entry(worth[-1].path + "m", size)]
            rewritten += size
        assert len(files) < 2 * COMPACT_AT
    assert rewritten < 8 * 2880 * 1000


def test_an_archive_that_lost_its_checkpoint_is_not_filled_twice(
    spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path
) -> None:
    run(spark, topics, market, tmp_path)
    shutil.rmtree(tmp_path / "_work")
    with pytest.raises(JobError, match=r"checkpoint, which says how far they reach, is gone"):
        run(spark, topics, market, tmp_path)


def test_a_killed_job_goes_on_where_it_was(
    spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path, repository: Path
) -> None:
    name, root = market.view.name, tmp_path / "archive"
    command = [
        sys.executable, "-m", "spark_jobs.archive", "--views", str(views_toml(tmp_path, market.view)), "--root",
        str(root), "--bootstrap", topics.bootstrap, "--every", "50ms", "--batch", "30", "--master", "local[1]",
    ]  # fmt: skip
    job = subprocess.Popen(command, cwd=repository, start_new_session=True, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while len(list(root.glob("changes/*/*/*.parquet"))) < 3:
        assert job.poll() is None, job.communicate()[1].decode()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(job.pid, signal.SIGKILL)
    job.communicate()
    market.publish(random_updates(3, 60, start=market.updates[-1][2]))
    run(spark, topics, market, root)
    offsets = archived(root, name)
    assert len(offsets) == len(set(offsets)) == len(market.changes)


def test_a_log_that_was_cut_is_an_error(
    spark: SparkSession, topics: Kafka, market: Market, kafka: KafkaSettings, tmp_path: Path
) -> None:
    topic = market.view.topic("changes")
    run(spark, topics, market, tmp_path)
    market.publish(random_updates(3, 60, start=market.updates[-1][2]))
    admin = AdminClient(kafka.client())  # held: one that is collected never answers
    admin.delete_records([TopicPartition(topic, 0, -1)])[TopicPartition(topic, 0)].result(30)
    market.publish(random_updates(4, 60, start=market.updates[-1][2]))
    with pytest.raises(JobError, match="no longer has records that were not archived yet"):
        run(spark, topics, market, tmp_path)


@pytest.mark.usefixtures("spark")
def test_a_missing_topic_is_named(topics: Kafka, unique: str, tmp_path: Path) -> None:
    views = views_toml(tmp_path, view_of(unique))
    with pytest.raises(JobError, match=rf"{unique}.changes"):
        main(["--views", str(views), "--root", str(tmp_path / "a"), "--bootstrap", topics.bootstrap])


def test_an_empty_archive_names_what_it_holds(
    spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path
) -> None:
    run(spark, topics, market, tmp_path)
    with pytest.raises(JobError, match=rf"no changes of view 'nope'; views with changes there: {market.view.name}"):
        read_archive(spark, str(tmp_path), "changes", "nope")
