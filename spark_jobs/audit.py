"""Proves a view right, or lists what is wrong: its skyline recomputed from all updates, its changes replayed.

    python -m spark_jobs.audit --view spot

Three checks, none of which runs the maintainer's code:
updates   V.updates, up to the offset that the maintainer has committed, give the members that V.changes leads to
skyline   V.changes leads to the members that V.skyline holds
seq       the changes of V.changes are numbered 1, 2, 3, ..., and nobody enters or leaves twice

The view may be live: offsets are read so that later ones cannot explain a difference. Exit code 1: differences found.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skyline.view import View
from skyline.wire.changes import MemberRecord
from spark_jobs import cli
from spark_jobs.audit_checks import broken_sequence, broken_stays, differences, published, recomputed, replayed
from spark_jobs.changes import read_changes, read_records
from spark_jobs.kafka import Kafka, Span, Topics, add_kafka, kafka_of, records
from spark_jobs.output import add_output, check_output, write
from spark_jobs.progress import step
from spark_jobs.session import open_session
from spark_jobs.tables import show
from spark_jobs.updates import read_updates

GROUP: Final = os.environ.get("SKYLINE_GROUP") or "skyline-maintainer"
"""The maintainer's consumer group begins with this; the view's name follows."""


@dataclass(frozen=True)
class Cut:
    """The state of the logs that is audited, read in this order: committed updates, changes, members, changes again."""

    committed: int
    updates: Span
    earlier: Span
    members: Span
    changes: Span


def cut(topics: Topics, view: View, group: str, offset: int | None) -> Cut:
    """Refuses logs that no longer begin at their beginning: nothing could be proved from them."""
    place = view.topic("updates")
    committed = offset if offset is not None else topics.committed(f"{group}.{view.name}", place)
    updates = topics.span(place)
    if committed is None:
        raise cli.JobError(
            f"group {group}.{view.name} has committed nothing of {place}: has the maintainer run? "
            f"--offset N audits up to that offset"
        )
    if not updates.first <= committed <= updates.past:
        raise cli.JobError(f"offset {committed} lies outside of {place}, which holds {updates.first} to {updates.past}")
    earlier = topics.decided(view.topic("changes"))
    members = topics.decided(view.topic("skyline"))
    found = Cut(committed, updates, earlier, members, topics.decided(view.topic("changes")))
    for kind, span in (("updates", found.updates), ("changes", found.changes)):
        if span.first > 0:
            raise cli.JobError(
                f"{view.topic(kind)} is truncated: it begins at offset {span.first}, an audit needs it from the start"
            )
    return found


@dataclass(frozen=True)
class Logs:
    """The audited records as rows."""

    updates: DataFrame
    changes: DataFrame
    members: DataFrame
    cut: Cut

    @classmethod
    def read(cls, spark: SparkSession, kafka: Kafka, view: View, at: Cut) -> Logs:
        updates = records(spark, kafka, view.topic("updates"), Span(0, at.committed))
        changes = records(spark, kafka, view.topic("changes"), at.changes)
        newest = F.max_by(F.struct("topic", "offset", "value"), "offset").alias("newest")
        table = records(spark, kafka, view.topic("skyline"), at.members).groupBy("key").agg(newest)
        held = table.select("newest.*").where("value is not null")
        return cls(
            read_updates(updates, view.name),
            read_changes(changes, view.name).localCheckpoint(),
            read_records(held, MemberRecord, view.name).localCheckpoint(),
            at,
        )


def transform(logs: Logs, view: View) -> DataFrame:
    """All differences: rows (check, key, expected, found)."""
    applied = logs.changes.where(F.col("offset") < logs.cut.committed)
    found = [
        differences("updates", recomputed(logs.updates, view), replayed(applied, view)),
        differences("skyline", _replayed_to(logs, view), published(logs.members, view)),
        broken_sequence(logs.changes),
        broken_stays(logs.changes),
    ]
    return reduce(DataFrame.unionByName, found)


def _replayed_to(logs: Logs, view: View) -> DataFrame:
    """The members after the change that V.skyline stands at.

    That is at least the newest change of a member in it, and the newest that V.changes had before V.skyline was read;
    any further ones are leaves, which leave no record behind: those whose keys V.skyline no longer has, up to the
    first whose key it still has.
    """
    in_table = logs.members.agg(F.max("seq")).first()
    before = logs.changes.where(F.col("log_offset") < logs.cut.earlier.past).agg(F.max("seq")).first()
    low = max((row[0] or 0) for row in (in_table, before) if row is not None)
    later = logs.changes.where(F.col("seq") > low).orderBy("seq")
    gone = _leaves_without_record(later, logs.members)
    return replayed(logs.changes.where(F.col("seq") <= low + gone), view)


def _leaves_without_record(later: DataFrame, members: DataFrame) -> int:
    held = members.select("key", F.lit(True).alias("held"))
    rows = later.join(F.broadcast(held), "key", "left").orderBy("seq").select("op", "held").limit(1 << 16).collect()
    count = 0
    for row in rows:
        if row.op != "leave" or row.held:
            break
        count += 1
    return count


def main(argv: Sequence[str]) -> int:
    parser = cli.parser("Recomputes the skyline of a view from its updates and compares it with what is published.")
    cli.add_view(parser)
    add_kafka(parser)
    parser.add_argument("--group", default=GROUP, help="the maintainer's --group (SKYLINE_GROUP)")
    parser.add_argument("--offset", type=int, help="audit up to this offset of V.updates; default: the committed one")
    add_output(parser)
    arguments = parser.parse_args(argv)
    view = cli.chosen_view(arguments.views, arguments.view)
    kafka = kafka_of(arguments)
    spark = open_session("audit", arguments.master, kafka=True)
    check_output(spark, arguments)
    with Topics(spark, kafka) as topics:
        at = cut(topics, view, arguments.group, arguments.offset)
    with step(spark, f"reading the changes of {view.name}"):
        logs = Logs.read(spark, kafka, view, at)
    with step(spark, f"recomputing {view.name} from {at.committed:,} updates"):
        found = transform(logs, view).localCheckpoint()
    if arguments.out is not None:
        write(found, arguments)
    return _report(found, logs, view, arguments.limit)


def _report(found: DataFrame, logs: Logs, view: View, limit: int) -> int:
    count, members, changes = found.count(), logs.members.count(), logs.changes.count()
    what = (
        f"{view.name}: {logs.cut.committed:,} updates (offsets 0 to {logs.cut.committed - 1}), {changes:,} changes, "
        f"{members:,} members"
    )
    if not count:
        print(f"{what}\nRIGHT: the updates give these members, the changes lead to them, and seq has no gap.")
        return cli.DONE
    show(found.orderBy("check", "key"), limit, f"{view.name}: differences")
    print(f"{what}\nWRONG: {count:,} differences.")
    return cli.DIFFERENT


if __name__ == "__main__":
    cli.run(main)
