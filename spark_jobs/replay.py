"""The skyline at every snapshot of an archive of updates: the 2014 paper's problem, at scale.

    python -m spark_jobs.replay --root /data/archive --view spot --period 1h --out hourly
    python -m spark_jobs.replay --root /data/archive --view spot --count 10000

The log is cut into snapshots, by period of event time or by number of records; the snapshots into slices, one task
each. A slice starts from its base snapshot, which is every object as of its beginning, and goes on by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from skyline.errors import InvalidInput
from skyline.view import View, parse_duration
from spark_jobs import cli
from spark_jobs.archive_reading import kept
from spark_jobs.output import add_output, check_output, give
from spark_jobs.progress import step
from spark_jobs.replay_slice import ENGINES, slice_skylines
from spark_jobs.session import open_session
from spark_jobs.updates import all_of, folded, with_clock

SLICE: Final = 1 << 20
"""Records of a slice, about: some 300 MB in its Python worker."""

_QUANTILES: Final = 256
"""As many slices, at most, can be of about equal size."""

MOST: Final = 10_000_000
"""Snapshots at most: a clock that once stood at 1970 and a period of a second are half a billion."""


@dataclass(frozen=True)
class Snapshots:
    """Where the log is cut: every `period` milliseconds, at whole multiples of it, or after every `count` records."""

    period: int | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        if (self.period is None) == (self.count is None):
            raise InvalidInput("cut the log either by period or by count")
        if self.count is not None and self.count < 1:
            raise InvalidInput(f"count must be at least 1, got {self.count}")

    def number(self) -> Column:
        """The snapshot that first shows a record: the one at or after its clock, or that its place falls into."""
        if self.period is not None:
            return F.ceil(F.col("clock") / self.period).cast("long")
        return F.floor(F.col("log_offset") / self.count).cast("long")


def transform(updates: DataFrame, view: View, snapshots: Snapshots, engine: str = "forest") -> DataFrame:
    """The members at every snapshot: rows (snapshot, at, key, group, point).

    updates: rows (key, value, at, log_offset) of the archive, from the first one on. By period, snapshot n is at
    n x period: all updates up to then have taken effect, and all that expired by then is gone. By count, it is after
    the records with offsets below (n + 1) x count, at the time of the last of them. A snapshot before which nothing
    happened is there too, and one without members has no rows.

    One shuffle by key, to make whole records of modifications and to know every object at the start of each slice;
    then one by slice. Memory of a task: the records of its slice, about a million, and the objects at its beginning.
    """
    if view.window is not None:
        raise InvalidInput(f"view {view.name!r} is a window view: replay takes keyed views")
    if engine not in ENGINES:
        raise InvalidInput(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    clocked = with_clock(updates).withColumn("snapshot", snapshots.number())
    cuts, count = _extent(clocked, view)
    first, last = cuts[0], cuts[-1]
    if last - first >= MOST:
        raise InvalidInput(f"{last - first + 1:,} snapshots are more than {MOST:,}: choose a longer period")
    slices = min(last - first + 1, max(updates.sparkSession.sparkContext.defaultParallelism, -(-count // SLICE)))
    starts = slice_starts(cuts, slices)
    slices = len(starts)
    resolved = folded(clocked, view, all_of)
    if snapshots.period is None:
        resolved = resolved.unionByName(_clock_rows(clocked, resolved))
    numbered = resolved.withColumn("snapshot", snapshots.number())
    dealt = _with_bases(numbered, starts)
    task = slice_skylines(view.dimensions.directions, starts, last + 1, snapshots.period, engine)
    schema = "snapshot bigint, at bigint, key string, label string, point array<double>"
    tickets = F.array(*[F.lit(ticket) for ticket in _tickets(updates.sparkSession, slices)])
    ticket = F.element_at(tickets, F.col("slice")).cast("long")
    ordered = dealt.repartition(slices, ticket).sortWithinPartitions("slice", "log_offset")
    found = ordered.mapInArrow(task, schema)
    names = [F.lit(name) for name in view.dimensions.names]
    point = F.map_from_arrays(F.array(*names), "point")
    at = F.timestamp_millis("at")
    return found.select("snapshot", at.alias("at"), "key", F.col("label").alias("group"), point.alias("point"))


def _extent(clocked: DataFrame, view: View) -> tuple[list[int], int]:
    """Quantiles of the snapshots that records fall into, from the first to the last; how many records there are.

    Refuses a log that is not there from its beginning.
    """
    shares = [i / _QUANTILES for i in range(1, _QUANTILES)]
    middle = F.percentile_approx("snapshot", shares, 10 * _QUANTILES)
    row = clocked.agg(F.min("snapshot"), F.max("snapshot"), F.min("log_offset"), F.count("*"), middle).first()
    if row is None or row[0] is None:
        raise cli.JobError(f"there is no update of {view.name}: nothing to replay")
    if row[2] > 0:
        raise cli.JobError(f"the updates of {view.name} begin at offset {row[2]}: objects from before are unknown")
    return [row[0], *row[4], row[1]], row[3]


def slice_starts(cuts: Sequence[int], slices: int) -> list[int]:
    """The first snapshot of each slice, `slices` at most; none has more than twice its share, of records or snapshots.

    cuts: quantiles of the records' snapshots. A log with one record from 1970 would otherwise be a single slice.

    >>> slice_starts(range(101), 4), slice_starts([0, *range(900, 1001)], 4)
    ([0, 25, 50, 75], [0, 494, 908, 954])
    """
    places = np.array(cuts, np.float64)
    records = np.linspace(0, 1, len(places))
    snapshots = (places - places[0]) / max(1.0, places[-1] - places[0])
    found = np.interp(np.arange(slices) / slices, (records + snapshots) / 2, places)
    return np.unique(found.astype(np.int64)).tolist()  # type: ignore[no-any-return]


def _clock_rows(clocked: DataFrame, resolved: DataFrame) -> DataFrame:
    """The last record of every snapshot, as a record of nobody: only its time counts."""
    last = clocked.groupBy("snapshot").agg(F.max_by(F.struct("log_offset", "clock"), "log_offset").alias("last"))
    nothing = {field.name: F.lit(None).cast(field.dataType) for field in resolved.schema}
    known = {"log_offset": F.col("last.log_offset"), "clock": F.col("last.clock"), "held": F.lit(False)}
    return last.select(*[{**nothing, **known}[name].alias(name) for name in resolved.columns])


def _with_bases(resolved: DataFrame, starts: list[int]) -> DataFrame:
    """Every record with its slice (from 1), and again in each later slice at whose start it is what its object is."""
    begins = F.array(*[F.lit(start) for start in starts])

    def slices_up_to(snapshot: Column) -> Column:
        return F.size(F.filter(begins, lambda start: start <= snapshot))

    following = F.lead("snapshot").over(Window.partitionBy("key").orderBy("log_offset"))
    own = slices_up_to(F.col("snapshot"))
    last = F.when(F.col("held"), slices_up_to(F.coalesce("following", F.lit(starts[-1])))).otherwise(own)
    return resolved.withColumn("following", following).withColumn("slice", F.explode(F.sequence(own, last)))


def _tickets(spark: SparkSession, tasks: int) -> list[int]:
    """For every task a number that Spark's hash sends to it: slices never share one while another has none."""
    hashed = F.pmod(F.hash(F.col("id")), F.lit(tasks)).alias("task")
    rows = spark.range(64 * tasks, numPartitions=1).select("id", hashed).collect()
    tickets = {row.task: row.id for row in rows}
    return [tickets[task] for task in range(tasks)]


def main(argv: Sequence[str]) -> int:
    parser = cli.parser("The skyline at every snapshot of an archive of updates.")
    cli.add_view(parser)
    parser.add_argument("--root", required=True, help="directory of the archive, made with archive --updates")
    parser.add_argument("--period", metavar="DURATION", help="a snapshot so often, such as 1h")
    parser.add_argument("--count", type=cli.positive, help="a snapshot after so many records")
    parser.add_argument("--engine", choices=ENGINES, default="forest", help="what keeps the skyline within a slice")
    add_output(parser)
    arguments = parser.parse_args(argv)
    view = cli.chosen_view(arguments.views, arguments.view)
    period = None if arguments.period is None else parse_duration(arguments.period)
    snapshots = Snapshots(period, arguments.count)
    spark = open_session("replay", arguments.master)
    check_output(spark, arguments)
    with kept(spark, arguments.root, "updates", view.name) as updates:
        with step(spark, f"cutting the updates of {view.name}"):
            found = transform(updates, view, snapshots, arguments.engine)
        with step(spark, "replay"):
            give(found, arguments, f"{view.name}: members at every snapshot", ["snapshot", "key"])
    return cli.DONE


if __name__ == "__main__":
    cli.run(main)
