"""Keeps V.changes, and V.updates where asked for, as Parquet: exactly once, by view and date, restart safe.

    python -m spark_jobs.archive --root /data/archive                    # what there is now, then ends
    python -m spark_jobs.archive --root /data/archive --every 30s        # goes on until stopped

What it writes is described in archive_store.py, and for its readers in docs/spark-jobs.md.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from time import sleep
from typing import Any, Final

from prometheus_client import CollectorRegistry
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from skyline.view import View, parse_duration
from spark_jobs import cli
from spark_jobs.archive_metrics import ArchiveMetrics
from spark_jobs.archive_store import ArchiveStore
from spark_jobs.changes import read_changes
from spark_jobs.kafka import Kafka, Topics, add_kafka, kafka_of
from spark_jobs.session import open_session
from spark_jobs.updates import read_updates

_POLL_SECONDS: Final = 0.2


@dataclass(frozen=True)
class Pace:
    """How a run proceeds: until what is there now is archived, or for ever, with a batch `every` so often."""

    every: int | None = None
    batch: int = 1_000_000
    compact: bool = True


def transform(records: DataFrame, kind: str, view: str) -> DataFrame:
    """Kafka records of V.changes or V.updates as rows of the archive."""
    return read_changes(records, view) if kind == "changes" else read_updates(records, view)


def archive(spark: SparkSession, kafka: Kafka, view: View, kind: str, root: str, pace: Pace) -> StreamingQuery:
    """Starts archiving one topic; the query ends by itself unless the pace says otherwise."""
    store = ArchiveStore.at(spark, root, kind, view.name)
    store.check_checkpoint()
    store = store.taken()
    reader = spark.readStream.format("kafka").options(**kafka.options()).option("subscribe", view.topic(kind))
    source = (
        reader.option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", pace.batch)
        .option("minPartitions", spark.sparkContext.defaultParallelism)
        .option("failOnDataLoss", "true")
        .load()
    )

    before: set[str] | None = None

    def put(rows: DataFrame, batch: int) -> None:
        """All dates are looked at once; then those of this batch, and of the one before, which may be over now."""
        nonlocal before
        dates = store.put(rows, batch)
        if pace.compact:
            store.compact(None if before is None else dates | before)
        before = dates

    writer = transform(source, kind, view.name).writeStream.foreachBatch(put)
    writer = writer.option("checkpointLocation", store.checkpoint).queryName(view.topic(kind))
    trigger: dict[str, Any] = {"availableNow": True}
    if pace.every is not None:
        trigger = {"processingTime": f"{pace.every} milliseconds"}
    return writer.trigger(**trigger).start()


def follow(queries: Sequence[StreamingQuery], metrics: ArchiveMetrics | None = None) -> None:
    """Waits until all queries have ended, or one has failed, and notes every batch that they finish."""
    seen = {query.name: "" for query in queries}
    running = True
    while running:
        running = any(query.isActive for query in queries)
        for query in queries:
            for progress in query.recentProgress:
                if progress["timestamp"] <= seen[query.name]:
                    continue
                seen[query.name] = progress["timestamp"]
                if metrics is not None:
                    metrics.observe(query.name, progress)
                if progress["numInputRows"]:
                    cli.note(_described(query.name, progress))
            if not query.isActive:
                _raise_failure(query)
        if running:
            sleep(_POLL_SECONDS)


def _raise_failure(query: StreamingQuery) -> None:
    error = query.exception()
    if error is None:
        return
    if "data may have been lost" in str(error) or "KAFKA_DATA_LOSS" in str(error):
        raise cli.JobError(
            f"topic {query.name} no longer has records that were not archived yet (deleted by its retention, or the "
            f"topic was created again): archive to a new --root, or restore the topic"
        )
    raise error


def _described(topic: str, progress: Any) -> str:
    position = json.loads(progress["sources"][0]["endOffset"])[topic]["0"]
    return (
        f"{topic}: batch {progress['batchId']}, {progress['numInputRows']:,} records, "
        f"{progress['processedRowsPerSecond']:,.0f}/s, up to offset {position}"
    )


def _add_metrics(parser: argparse.ArgumentParser) -> None:
    """--metrics-host and --metrics-port, as the services have them."""
    host, port = os.environ.get("SKYLINE_METRICS_HOST"), os.environ.get("SKYLINE_METRICS_PORT")
    parser.add_argument("--metrics-host", default=host or "127.0.0.1", help="address of it (SKYLINE_METRICS_HOST)")
    parser.add_argument(
        "--metrics-port", type=int, default=port or "0",
        help="with --every, a port for /metrics, which is a health check too (SKYLINE_METRICS_PORT; default: none)",
    )  # fmt: skip


def main(argv: Sequence[str]) -> int:
    parser = cli.parser("Archives the changes (and updates) of views from Kafka to Parquet, exactly once.")
    cli.add_view(parser, many=True)
    add_kafka(parser)
    parser.add_argument("--root", required=True, help="directory of the archive: a path, or any URL that Spark writes")
    parser.add_argument("--updates", action="store_true", help="archive V.updates too, which replay needs")
    parser.add_argument("--every", metavar="DURATION", help="go on for ever, with a batch every so often, such as 30s")
    parser.add_argument("--batch", type=cli.positive, default=1_000_000, help="records in one batch at most")
    parser.add_argument("--no-compact", action="store_true", help="leave small files as they are")
    _add_metrics(parser)
    arguments = parser.parse_args(argv)
    views = cli.chosen_views(arguments.views, arguments.view)
    every = None if arguments.every is None else parse_duration(arguments.every)
    pace = Pace(every, arguments.batch, not arguments.no_compact)
    kafka = kafka_of(arguments)
    spark = open_session("archive", arguments.master, kafka=True)
    topics = [(view, kind) for view in views for kind in ("changes", *(["updates"] if arguments.updates else []))]
    with Topics(spark, kafka) as known:
        for view, kind in topics:
            known.span(view.topic(kind))
    if every is None:  # one after another: each has all cores
        for view, kind in topics:
            follow([archive(spark, kafka, view, kind, arguments.root, pace)])
    else:
        metrics = ArchiveMetrics(CollectorRegistry(), [view.topic(kind) for view, kind in topics])
        queries = [archive(spark, kafka, view, kind, arguments.root, pace) for view, kind in topics]
        if arguments.metrics_port:
            metrics.serve(arguments.metrics_host, arguments.metrics_port)
        follow(queries, metrics)
    for view, kind in topics:
        held = ArchiveStore.at(spark, arguments.root, kind, view.name).files()
        print(f"{view.topic(kind)}: {len(held)} files, {sum(entry.size for entry in held):,} bytes")
    return cli.DONE


if __name__ == "__main__":
    cli.run(main)
