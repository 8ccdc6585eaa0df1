"""What an audit compares, each check a function from DataFrames to the differences that it finds.

A difference is a row (check, key, expected, found); `expected` and `found` are text, null where there is nothing.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from skyline.view import View
from skyline.view import Window as Extent
from spark_jobs.bulk_skyline import skyline
from spark_jobs.updates import coordinates, elements_of, folded, last_of, with_clock

_EXTRAS: Final = "`group` string, carry string"


def recomputed(updates: DataFrame, view: View) -> DataFrame:
    """The members (key, state) that these updates amount to: decoded one by one, then `bulk_skyline`.

    updates: rows (key, value, at, log_offset), from the first one on.
    """
    clocked = with_clock(updates)
    clock = clocked.agg(F.max("clock")).first()
    now: int = 0 if clock is None or clock[0] is None else clock[0]
    if view.window is None:
        objects = folded(clocked, view, last_of)
        present = objects.where((F.col("valid_from") <= F.lit(now)) & (F.col("valid_until") > F.lit(now)))
    else:
        present = _in_window(folded(clocked, view, elements_of), view.window, now)
    # computed once: the skyline samples its rows before it reads them
    found = skyline(present.localCheckpoint(), coordinates(view), diff=["label"])
    # through the reader of V.skyline's own records, so that the same JSON is the same text
    extras = F.from_json(F.concat(F.lit("{"), F.expr("substring(extras, 2)"), F.lit("}")), _EXTRAS)
    point = F.array(*[F.col(name) for name in coordinates(view)])
    return found.select("key", state(point, extras["group"], extras["carry"]).alias("state"))


def _in_window(elements: DataFrame, window: Extent, now: int) -> DataFrame:
    if window.size is not None:
        return elements.orderBy(F.desc("log_offset")).limit(window.size)
    return elements.where(F.lit(now) - F.col("clock") < F.lit(window.span))


def replayed(changes: DataFrame, view: View) -> DataFrame:
    """The members (key, state) after these changes: of each key the last one, unless it is a leave."""
    last = changes.groupBy("key").agg(F.max_by(F.struct("op", "point", "group", "carry"), "seq").alias("last"))
    return _stated(last.where("last.op != 'leave'"), view, "last")


def published(members: DataFrame, view: View) -> DataFrame:
    """The members (key, state) of V.skyline's newest records, read by `read_records`."""
    return _stated(members.select("key", F.struct("point", "group", "carry").alias("last")), view, "last")


def _stated(rows: DataFrame, view: View, of: str) -> DataFrame:
    point = F.array(*[F.col(f"{of}.point")[name] for name in view.dimensions.names])
    return rows.select("key", state(point, F.col(f"{of}.group"), F.col(f"{of}.carry")).alias("state"))


def state(point: Column, group: Column, carry: Column) -> Column:
    """Everything that a member shows, as text."""
    values = F.concat(F.lit("["), F.concat_ws(", ", F.transform(point, lambda value: value.cast("string"))), F.lit("]"))
    return F.concat_ws(" ", values, group, carry)


def differences(check: str, expected: DataFrame, found: DataFrame) -> DataFrame:
    """Members that only one side has, or that differ."""
    joined = expected.withColumnRenamed("state", "expected").join(
        found.withColumnRenamed("state", "found"), "key", "full"
    )
    different = joined.where(~F.col("expected").eqNullSafe(F.col("found")))
    return _difference(different, check, F.col("expected"), F.col("found"))


def broken_sequence(changes: DataFrame) -> DataFrame:
    """Where the numbers of the changes are not 1, 2, 3, ..., each once."""
    counted = changes.groupBy("seq").agg(F.count("*").alias("times"), F.min("key").alias("key"))
    twice = _difference(
        counted.where("times > 1"),
        "seq",
        F.concat(F.lit("seq "), "seq", F.lit(" once")),
        F.concat("times", F.lit(" times")),
    )
    followed = counted.select((F.col("seq") + 1).alias("seq"))
    after_gap = counted.where("seq > 1").join(followed, "seq", "leftanti")
    gaps = _difference(
        after_gap, "seq", F.concat(F.lit("seq "), F.col("seq") - 1), F.concat(F.lit("a gap before seq "), "seq")
    )
    return twice.unionByName(gaps)


def broken_stays(changes: DataFrame) -> DataFrame:
    """Changes that contradict the one before of the same key: a member enters, or one who is none moves or leaves."""
    earlier = F.lag("op").over(Window.partitionBy("key").orderBy("seq"))
    member = F.coalesce(earlier != "leave", F.lit(False))
    rows = changes.withColumn("was_member", member).where((F.col("op") != "enter") != F.col("was_member"))
    was = F.when(F.col("was_member"), F.lit("a member before it")).otherwise(F.lit("no member before it"))
    what = F.concat(F.lit("seq "), "seq", F.lit(": "), "op", F.lit(" of "), was)
    return _difference(rows, "changes", F.lit(None).cast("string"), what)


def _difference(rows: DataFrame, check: str, expected: Column, found: Column) -> DataFrame:
    return rows.select(F.lit(check).alias("check"), "key", expected.alias("expected"), found.alias("found"))
