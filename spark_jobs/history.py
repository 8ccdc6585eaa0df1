"""The past of a view, from the archive or straight from V.changes.

    python -m spark_jobs.history longest --root /data/archive --view spot
    python -m spark_jobs.history as-of --at 2026-11-18T06:41:00Z --view spot
    python -m spark_jobs.history --report spot.html --root /data/archive --view spot

Every table is a function from changes (rows of the archive) to a DataFrame.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from skyline.errors import InvalidInput
from skyline.view import View, parse_duration
from skyline.wire.fields import instant
from skyline.wire.rejects import Rejected
from spark_jobs import cli
from spark_jobs.archive_reading import kept
from spark_jobs.changes import read_changes
from spark_jobs.kafka import Topics, add_kafka, kafka_of, records
from spark_jobs.output import add_output, check_output, give
from spark_jobs.periods import DURATIONS, extent, nice_period
from spark_jobs.progress import step
from spark_jobs.session import open_session

_NARROW: Final = ("key", "seq", "op", "at", "reason", "by", "point", "group", "carry")


def memberships(changes: DataFrame) -> DataFrame:
    """One row per stay of an object in the skyline.

    key, group, carry     as it entered
    entered_at, left_at   null where the log begins later, or the object is still a member
    enter_seq, leave_seq  the changes that these are
    lasted                seconds; of one who is still a member, up to the last change of the log
    enter_reason, enter_by, leave_reason, leave_by
                          why, and through whom: `leave_by` of one who was dominated is who displaced it
    first_point, last_point, moves
                          its values when it entered and when it left, and how often they changed between

    One shuffle by key. A key that left before it entered in this log was a member before the log began.
    """
    later = Window.partitionBy("key").orderBy(F.desc("seq"))
    before = later.rowsBetween(Window.unboundedPreceding, -1)
    so_far = later.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    leaves = F.col("op") == "leave"
    leave = F.struct("seq", "at", "reason", "by", "point", "moves_after")
    # seen from the last change of a key to its first: what comes later is known when a row is reached
    rows = (
        changes.select(*_NARROW)
        .withColumn("moves_after", F.count(F.when(F.col("op") == "move", 1)).over(so_far))
        .withColumn("newest", F.first("point").over(so_far))
        .withColumn("leave", F.last(F.when(leaves, leave), ignorenulls=True).over(before))
        .withColumn("is_first", F.lead("seq").over(later).isNull())
    )
    stays = rows.where((F.col("op") == "enter") | (F.col("is_first") & (F.col("op") != "enter")))
    entered = F.col("op") == "enter"
    # the first change of a key may be its leave, or a move, of a stay that began before the log
    leave_here = F.when(leaves, leave).otherwise(F.col("leave"))
    shaped = stays.withColumn("leave", leave_here).select(
        "key",
        "group",
        "carry",
        F.when(entered, F.col("at")).alias("entered_at"),
        F.col("leave.at").alias("left_at"),
        F.when(entered, F.col("seq")).alias("enter_seq"),
        F.col("leave.seq").alias("leave_seq"),
        F.when(entered, F.col("reason")).alias("enter_reason"),
        F.when(entered, F.col("by")).alias("enter_by"),
        F.col("leave.reason").alias("leave_reason"),
        F.col("leave.by").alias("leave_by"),
        F.col("point").alias("first_point"),
        F.coalesce("leave.point", "newest").alias("last_point"),
        (F.col("moves_after") - F.coalesce("leave.moves_after", F.lit(0))).alias("moves"),
    )
    last = changes.agg(F.max("at").alias("last_at"))
    lasted = _seconds(F.coalesce("left_at", "last_at"), F.col("entered_at"))
    return shaped.crossJoin(F.broadcast(last)).withColumn("lasted", lasted).drop("last_at")


def as_of(changes: DataFrame, at: datetime) -> DataFrame:
    """The members at that time, each with the change that made it what it was then.

    No wide row is shuffled: per key the last change is found by number, and the few that are not a leave are looked up.
    """
    until = changes.where(F.col("at") <= F.lit(at))
    marked = F.col("seq") * 2 + (F.col("op") == "leave").cast("long")
    last = until.groupBy("key").agg(F.max(marked).alias("marked")).where(F.col("marked") % 2 == 0)
    numbers = last.select((F.col("marked") / 2).cast("long").alias("seq"))
    return until.join(F.broadcast(numbers), "seq", "leftsemi").select(
        "key", "point", "group", "carry", F.col("at").alias("since"), "seq"
    )


def longest(stays: DataFrame) -> DataFrame:
    """Objects by the time that they were members, most first (the 2014 paper's question). From `memberships`."""
    return (
        stays.groupBy("key")
        .agg(
            F.sum("lasted").alias("total"),
            F.max("lasted").alias("longest"),
            F.count("*").alias("stays"),
            F.sum("moves").alias("moves"),
            F.min("entered_at").alias("first_entered_at"),
            F.max(F.col("left_at").isNull()).alias("is_member"),
        )
        .orderBy(F.desc_nulls_last("total"), "key")
    )


def churn(changes: DataFrame, period: int) -> DataFrame:
    """Per period of so many milliseconds: changes by op and by reason, and the members at its end."""
    begin = F.timestamp_millis(F.floor(F.unix_millis("at") / period) * period)
    counted: list[Column] = [
        F.count(F.when(F.col("op") == op, 1)).alias(name)
        for op, name in (("enter", "entered"), ("move", "moved"), ("leave", "left"))
    ]
    counted += [
        F.count(F.when((F.col("op") == op) & (F.col("reason") == reason), 1)).alias(f"{name}_{reason}")
        for op, name, reasons in (
            ("enter", "entered", ("inserted", "moved", "promoted")),
            ("leave", "left", ("dominated", "deleted", "expired", "moved")),
        )
        for reason in reasons
    ]
    members = F.max_by("size", "seq").alias("members")
    return changes.groupBy(begin.alias("period")).agg(*counted, members).orderBy("period")


def lifetimes(stays: DataFrame) -> DataFrame:
    """How long stays that are over lasted: their number per class of seconds; `below` is null for the last class."""
    over = stays.where(F.col("left_at").isNotNull() & F.col("lasted").isNotNull())
    bounds = F.array(*[F.lit(bound / 1000) for bound in DURATIONS])
    place = F.size(F.filter(bounds, lambda bound: bound <= F.col("lasted")))
    counted = over.groupBy(place.alias("place")).agg(F.count("*").alias("stays"))
    low, high = F.get(bounds, F.col("place") - 1), F.get(bounds, F.col("place"))
    return counted.select(low.alias("at_least"), high.alias("below"), "stays").orderBy("at_least")


def displacements(stays: DataFrame) -> DataFrame:
    """Who displaced whom, and how often, most first. From `memberships`."""
    return (
        stays.where(F.col("leave_reason") == "dominated")
        .groupBy(F.col("leave_by").alias("by"), "key")
        .agg(F.count("*").alias("times"), F.max("left_at").alias("last_at"))
        .orderBy(F.desc("times"), "by", "key")
    )


def check_complete(changes: DataFrame, *, from_start: bool = False) -> int:
    """Raises unless every change from the first one there to the last is there once. -> how many there are.

    from_start: the first must be the first of all. Otherwise a log that begins later is noted.
    """
    count, low, high = changes.agg(F.count("*"), F.min("seq"), F.max("seq")).first() or (0, 0, 0)
    if not count:
        raise cli.JobError("there is no change yet: the view has no past")
    if count != high - low + 1:
        raise cli.JobError(
            f"the changes are not whole: {count:,} rows for seq {low} to {high}, which are {high - low + 1:,}; "
            f"run spark_jobs.audit on the topics"
        )
    if low > 1:
        missing = f"the changes begin at seq {low}: members who have not changed since are unknown"
        if from_start:
            raise cli.JobError(f"{missing}; archive changes before their topic's retention deletes them")
        cli.note(f"note: {missing}, and stays from before have no beginning")
    return int(count)


_SHOWN: Final = {
    "memberships": ("key", "entered_at", "left_at", "lasted", "enter_reason", "leave_reason", "leave_by", "moves",
                    "last_point"),
}  # fmt: skip
"""Columns that fit a screen, where a table has more; --out writes all."""


def default_period(changes: DataFrame) -> int:
    """The period for churn where none is asked for."""
    first, last, _ = extent(changes)
    return nice_period(last - first)


def _seconds(end: Column, start: Column) -> Column:
    return (F.unix_millis(end) - F.unix_millis(start)) / 1000


@contextmanager
def log_of(spark: SparkSession, arguments: argparse.Namespace, view: View) -> Iterator[DataFrame]:
    """The view's changes, from the archive if one is named, else from Kafka as of now."""
    if arguments.root is not None:
        with kept(spark, arguments.root, "changes", view.name) as changes:
            yield changes
        return
    kafka = kafka_of(arguments)
    with Topics(spark, kafka) as topics:
        span = topics.span(view.topic("changes"))
    yield read_changes(records(spark, kafka, view.topic("changes"), span), view.name)


def moment(text: str) -> datetime:
    """The time that --at names: milliseconds, or ISO 8601."""
    read = instant("--at", int(text) if text.lstrip("-").isdigit() else text)
    if isinstance(read, Rejected):
        raise InvalidInput(read.message)
    try:
        return datetime.fromtimestamp(read / 1000, UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(f"--at: {text} lies outside of the years 1 to 9999") from None


def main(argv: Sequence[str]) -> int:
    parser = cli.parser("The past of a view: who was a member when, for how long, and who displaced whom.")
    tables = ("memberships", "as-of", "longest", "churn", "lifetimes", "displacements")
    parser.add_argument("table", nargs="?", choices=tables, help="what to show or write")
    cli.add_view(parser)
    add_kafka(parser)
    parser.add_argument("--root", help="directory of the archive; default: read V.changes from Kafka")
    parser.add_argument("--at", metavar="TIME", help="for as-of: milliseconds or ISO 8601; default the last change")
    parser.add_argument("--period", help="for churn, and the report: such as 15m, 1h, 1d; default: by the log's length")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write one self-contained HTML page")
    add_output(parser)
    arguments = parser.parse_args(argv)
    if arguments.table is None and arguments.report is None:
        parser.error("name a table, or --report FILE")
    if arguments.report is not None and not arguments.report.parent.is_dir():
        parser.error(f"--report: there is no directory {arguments.report.parent}")
    if arguments.at is not None and arguments.table != "as-of":
        parser.error("--at is for as-of")
    period = None if arguments.period is None else parse_duration(arguments.period)
    at = datetime.max.replace(tzinfo=UTC) if arguments.at is None else moment(arguments.at)
    view = cli.chosen_view(arguments.views, arguments.view)
    spark = open_session("history", arguments.master, kafka=arguments.root is None)
    check_output(spark, arguments)
    with log_of(spark, arguments, view) as changes:
        with step(spark, f"checking the changes of {view.name}"):
            count = check_complete(changes, from_start=arguments.table == "as-of")
        cli.note(f"{count:,} changes")
        if arguments.table is not None:
            with step(spark, arguments.table):
                rows = _table(arguments.table, changes, at, period)
                if arguments.out is None and arguments.table in _SHOWN:
                    rows = rows.select(*_SHOWN[arguments.table])
                give(rows, arguments, f"{view.name}: {arguments.table}")
        if arguments.report is not None:
            from spark_jobs.history_report import write_report  # plotly is not needed for tables

            with step(spark, f"report {arguments.report}"):
                write_report(view.name, changes, period, arguments.report)
    return cli.DONE


def _table(name: str, changes: DataFrame, at: datetime, period: int | None) -> DataFrame:
    made: dict[str, Callable[[], DataFrame]] = {
        "memberships": lambda: memberships(changes),
        "as-of": lambda: as_of(changes, at).orderBy("key"),
        "longest": lambda: longest(memberships(changes)),
        "churn": lambda: churn(changes, period or default_period(changes)),
        "lifetimes": lambda: lifetimes(memberships(changes)),
        "displacements": lambda: displacements(memberships(changes)),
    }
    return made[name]()


if __name__ == "__main__":
    cli.run(main)
