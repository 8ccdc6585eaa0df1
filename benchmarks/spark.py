"""The Spark jobs on this machine, local[2]: each against its target, rivals in the same run.

bulk_skyline  against the NOT EXISTS rewriting in Spark SQL (stopped when the ratio is proved), and against reading the
              same Parquet and summing its columns
archive       changes per second from a real broker to Parquet
history       seconds for the whole report, every table of it, over an archive of changes
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table

from benchmarks.datasets import anticorrelated, independent
from benchmarks.harness import Spread, Target, parse_arguments, repeat, write_json
from benchmarks.spark_data import VIEW, publish_changes, write_archive, write_points
from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import ensure_topics
from spark_jobs.archive import Pace, archive
from spark_jobs.archive_reading import read_archive
from spark_jobs.bulk_skyline import skyline
from spark_jobs.history import as_of, check_complete, memberships
from spark_jobs.history_report import write_report
from spark_jobs.kafka import Kafka
from spark_jobs.periods import extent
from spark_jobs.session import open_session

MASTER: Final = "local[2]"
DIMENSIONS: Final = dict.fromkeys(["d0", "d1", "d2", "d3"], "min")
PROOF: Final = 55.0
"""NOT EXISTS is stopped after so many times the time of bulk_skyline: its target is 50."""


@dataclass(frozen=True)
class Sizes:
    anti: int
    large: int
    small: int
    archived: int
    history: int
    repeats: int


FULL: Final = Sizes(100_000, 10_000_000, 1_000_000, 2_000_000, 10_000_000, 5)
QUICK: Final = Sizes(20_000, 1_000_000, 100_000, 200_000, 500_000, 2)


def against_not_exists(spark: SparkSession, scratch: Path, sizes: Sizes) -> tuple[Target, dict[str, Any]]:
    """bulk_skyline, then NOT EXISTS until it ends or has taken so long that the ratio is beyond doubt."""
    rows = spark.read.parquet(write_points(scratch / "anti", anticorrelated(sizes.anti, 4))).cache()
    rows.count()
    ours = repeat(lambda: skyline(rows, DIMENSIONS).count(), sizes.repeats, warmup=2)
    members = skyline(rows, DIMENSIONS).count()
    rows.createOrReplaceTempView("points")
    no_worse = " AND ".join(f"b.{name} <= a.{name}" for name in DIMENSIONS)
    better = " OR ".join(f"b.{name} < a.{name}" for name in DIMENSIONS)
    query = f"SELECT * FROM points a WHERE NOT EXISTS (SELECT 1 FROM points b WHERE {no_worse} AND ({better}))"
    theirs, count = _until(spark, lambda: spark.sql(query).count(), PROOF * ours.median)
    if count is not None and count != members:
        raise RuntimeError(f"NOT EXISTS finds {count} members, bulk_skyline {members}")
    rows.unpersist()
    stopped = " (stopped then: at least)" if count is None else ""
    what = f"bulk_skyline, {sizes.anti:,} anti-correlated rows: times as fast as NOT EXISTS{stopped}"
    raw = {"bulk_skyline": ours, "not_exists": theirs, "not_exists_ended": count is not None, "members": members}
    return Target(what, 50, theirs / ours.median, "x", at_least=True), raw


def _until(spark: SparkSession, run: Callable[[], int], seconds: float) -> tuple[float, int | None]:
    """Seconds that `run` took, and its result; None where it was stopped after so many seconds."""
    group = "benchmark"
    spark.sparkContext.setJobGroup(group, group, interruptOnCancel=True)
    timer = threading.Timer(seconds, lambda: spark.sparkContext.cancelJobGroup(group))
    timer.start()
    started = perf_counter()
    try:
        count = run()
        return perf_counter() - started, count
    except (Py4JJavaError, PySparkException):
        if perf_counter() - started < seconds:
            raise
        return perf_counter() - started, None
    finally:
        timer.cancel()
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def against_reading(spark: SparkSession, scratch: Path, sizes: Sizes) -> tuple[list[Target], dict[str, Any]]:
    """bulk_skyline of independent rows against the sum of their columns, and ten times as many rows."""
    measured: dict[int, tuple[Spread, Spread]] = {}
    for count in (sizes.small, sizes.large):
        rows = spark.read.parquet(write_points(scratch / f"independent{count}", independent(count, 4)))
        warmup = 3 if count == sizes.small else 1
        sums = repeat(lambda rows=rows: _sum(rows), sizes.repeats, warmup)  # type: ignore[misc]
        ours = repeat(lambda rows=rows: skyline(rows, DIMENSIONS).count(), sizes.repeats, warmup)  # type: ignore[misc]
        measured[count] = ours, sums
    (small, _), (large, sums) = measured[sizes.small], measured[sizes.large]
    targets = [
        Target(f"bulk_skyline, {sizes.large:,} independent rows: times reading", 4, large.median / sums.median, "x"),
        Target(
            f"bulk_skyline, growth from {sizes.small:,} to {sizes.large:,} rows",
            sizes.large / sizes.small,
            large.median / small.median,
            "x",
        ),
    ]
    raw = {str(count): {"bulk_skyline": ours, "read_and_sum": sums} for count, (ours, sums) in measured.items()}
    return targets, raw


def _sum(rows: DataFrame) -> object:
    return rows.agg(*[F.sum(name) for name in rows.columns]).collect()


def archive_rate(spark: SparkSession, scratch: Path, sizes: Sizes) -> tuple[Target, dict[str, Any]]:
    """Changes per second from the broker to Parquet, after a first run that warms up."""
    broker = Broker(scratch / "kafka", dies_with_parent=True)
    broker.start()
    try:
        settings = KafkaSettings(broker.address)
        ensure_topics(settings, VIEW)
        rates = []
        first = 1
        for count in (sizes.archived // 10, sizes.archived):
            publish_changes(settings.client(), count, first)
            first += count
            started = perf_counter()
            pace = Pace(batch=max(1, sizes.archived // 2))
            query = archive(spark, Kafka(broker.address), VIEW, "changes", str(scratch / "archived"), pace)
            query.awaitTermination()
            rates.append(count / (perf_counter() - started))
        if check_complete(read_archive(spark, str(scratch / "archived"), "changes", VIEW.name)) != first - 1:
            raise RuntimeError("the archive does not hold every change")
    finally:
        broker.stop()
    name = f"archive, {sizes.archived:,} changes, with start and commit: changes per second"
    return Target(name, 100_000, rates[-1], "/s", at_least=True), {"changes": sizes.archived, "per_second": rates[-1]}


def history_time(spark: SparkSession, scratch: Path, sizes: Sizes) -> tuple[Target, dict[str, Any]]:
    """The whole report, and two tables by themselves, once each: a person waits for the first run."""
    write_archive(scratch / "history", sizes.history)
    changes = read_archive(spark, str(scratch / "history"), "changes", VIEW.name)
    seconds: dict[str, float] = {}

    def timed(name: str, run: Callable[[], object]) -> None:
        started = perf_counter()
        run()
        seconds[name] = perf_counter() - started

    first, last, _ = extent(changes)
    middle = datetime.fromtimestamp((first + last) / 2000, UTC)

    def whole_report() -> None:
        check_complete(changes)
        write_report(VIEW.name, changes, None, scratch / "report.html")

    timed("report", whole_report)
    timed("memberships", lambda: memberships(changes).write.format("noop").mode("overwrite").save())
    timed("as-of", lambda: as_of(changes, middle).count())
    return Target(f"history, report over {sizes.history:,} changes", 60, seconds["report"], " s"), seconds


def show(console: Console, raw: dict[str, Any]) -> None:
    """Everything that was timed, in seconds."""
    table = Table(title=f"Spark jobs, {MASTER}: seconds", title_justify="left")
    table.add_column("what")
    table.add_column("median (least to most)", justify="right")
    for part, values in raw.items():
        for name, value in _flat(values):
            shown = f"{value.median:.2f} ({value.min:.2f} to {value.max:.2f})" if isinstance(value, Spread) else value
            table.add_row(f"{part}: {name}", f"{shown:,.2f}" if isinstance(shown, float) else str(shown))
    console.print(table)


def _flat(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from ((f"{name} rows, {inner}", measured) for inner, measured in value.items())
        else:
            yield name, value


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(__doc__ or "", argv)
    sizes = QUICK if arguments.quick else FULL
    spark = open_session("benchmark", MASTER, kafka=True)
    targets: list[Target] = []
    raw: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="skyline-spark-") as made:
        scratch = Path(made)
        for name, run in (("not_exists", against_not_exists), ("archive", archive_rate), ("history", history_time)):
            target, raw[name] = run(spark, scratch, sizes)
            targets.append(target)
        more, raw["reading"] = against_reading(spark, scratch, sizes)
    version = spark.version
    spark.stop()
    show(Console(width=120), raw)
    for target in targets + more:
        print(target)
    if arguments.json:
        results = {"spark": version, "sizes": asdict(sizes), "targets": targets + more, "measured": raw}
        write_json(arguments.json, "spark", results)


if __name__ == "__main__":
    main()
