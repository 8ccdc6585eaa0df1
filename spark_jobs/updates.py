"""The updates of a view as Spark sees them: the clock at each, and what each makes of its object.

Records are read by skyline.wire's reference reader, one by one: the maintainer's kernels have no part in this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from skyline.view import View
from skyline.wire.elements import element_key
from skyline.wire.modify import modified
from skyline.wire.rejects import Rejected
from skyline.wire.updates import TICK, Delete, Modification, Upsert, read_update

_STRETCH: Final = 1 << 16
"""Offsets that one task numbers in order; the driver knows one number for each."""

_CHUNK: Final = 1 << 14


class Record(NamedTuple):
    """One update as it came, and the clock when it had come."""

    offset: int
    clock: int
    value: bytes | None


class Resolved(NamedTuple):
    """What an object was after an update; `held` is None where it was deleted."""

    offset: int
    clock: int
    held: Upsert | None


Folded = Callable[[View, bytes | None, list[Record]], Iterable[tuple[str, Resolved]]]


def read_updates(records: DataFrame, view: str) -> DataFrame:
    """Update records as they came, bytes and all; `at` is the record's timestamp."""
    return records.select(
        "key", "value", F.col("timestamp").alias("at"), F.col("offset").alias("log_offset"), F.lit(view).alias("view")
    )


def with_clock(updates: DataFrame) -> DataFrame:
    """Rows (key, value, at, log_offset) with `clock`: the largest timestamp so far, in milliseconds.

    No task sees the whole log: each takes a stretch of offsets, and the driver the maximum of every stretch.
    """
    stretch = F.floor(F.col("log_offset") / _STRETCH)
    rows = updates.select("*", F.unix_millis("at").alias("clock"), stretch.alias("stretch"))
    highest = rows.groupBy("stretch").agg(F.max("clock").alias("highest")).orderBy("stretch").collect()
    before = zip([row.stretch for row in highest[1:]], accumulate((row.highest for row in highest), max), strict=False)
    known = updates.sparkSession.createDataFrame(list(before), "stretch bigint, before bigint")
    so_far = Window.partitionBy("stretch").orderBy("log_offset").rowsBetween(Window.unboundedPreceding, 0)
    running = F.greatest(F.max("clock").over(so_far), "before")
    return rows.join(F.broadcast(known), "stretch", "left").withColumn("clock", running).drop("stretch", "before")


def coordinates(view: View) -> dict[str, str]:
    """Names of the columns that `objects` and `elements` have for the dimensions, with their directions."""
    return {f"x{axis}": direction for axis, direction in enumerate(view.dimensions.directions)}


def schema(view: View) -> str:
    """Columns of `folded`: `held` is false where the object was deleted; `extras` is JSON to splice, as on the wire."""
    point = "".join(f", {name} double" for name in coordinates(view))
    return (
        "key string, log_offset bigint, clock bigint, held boolean, valid_from bigint, valid_until bigint, "
        f"label string, extras string{point}"
    )


def folded(updates: DataFrame, view: View, fold: Folded) -> DataFrame:
    """What `fold` makes of the records of each key, in order. From `with_clock`; one shuffle by key.

    The elements of a window view have nothing to do with each other, and may all lack a key: no shuffle, any order.
    """
    keyed = view.window is None

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[str, Resolved]] = []
        for key, records in _by_key(batches, whole=keyed):
            rows += fold(view, key, records)
            if len(rows) >= _CHUNK:
                yield _batch(view, rows)
                rows = []
        if rows:
            yield _batch(view, rows)

    ticks = F.coalesce(F.col("key") == F.lit(TICK.encode()), F.lit(False))
    rows = updates.where(~ticks).select("key", "log_offset", "clock", "value")
    if keyed:
        rows = rows.repartition("key").sortWithinPartitions("key", "log_offset")
    return rows.mapInArrow(task, schema(view))


def all_of(view: View, key: bytes | None, records: list[Record]) -> Iterator[tuple[str, Resolved]]:
    """Every record of one key that can be applied, with what the object was after it."""
    held: Upsert | None = None
    for record in records:
        read = read_update(view, key, record.value)
        if isinstance(read, Rejected):
            continue
        name, update = read
        if isinstance(update, Upsert):
            held = update
        elif isinstance(update, Delete):
            held = None
        elif isinstance(update, Modification):
            result = modified(view, held, update) if held and held.valid_until > record.clock else None
            if result is None or isinstance(result, Rejected):
                continue
            held = result
        yield name, Resolved(record.offset, record.clock, held)


def last_of(view: View, key: bytes | None, records: list[Record]) -> Iterator[tuple[str, Resolved]]:
    """What one object is in the end. Reads back to its last whole record only."""
    first = len(records)
    while first:
        first -= 1
        read = read_update(view, key, records[first].value)
        if not isinstance(read, Rejected) and isinstance(read[1], Upsert | Delete):
            break
    newest = None
    for newest in all_of(view, key, records[first:]):  # noqa: B007 only the last one counts
        pass
    if newest is not None and newest[1].held is not None:
        yield newest


def elements_of(view: View, key: bytes | None, records: list[Record]) -> Iterator[tuple[str, Resolved]]:
    """The elements of a window view: every update that can be read is one, by a name of its own."""
    for name, resolved in all_of(view, key, records):
        if resolved.held is not None:
            yield element_key(name, resolved.offset), resolved


def _by_key(batches: Iterable[pa.RecordBatch], *, whole: bool) -> Iterator[tuple[bytes | None, list[Record]]]:
    """The records of each key; `whole`: all of them at once, for rows that come sorted by key and offset."""
    current: bytes | None = None
    records: list[Record] = []
    for batch in batches:
        keys, *columns = (batch.column(name).to_pylist() for name in ("key", "log_offset", "clock", "value"))
        for key, *values in zip(keys, *columns, strict=True):
            if key != current:
                if records:
                    yield current, records
                current, records = key, []
            records.append(Record(*values))
        if records and not whole:
            yield current, records
            records = []
    if records:
        yield current, records


_NOTHING: Final = Upsert(())


def _batch(view: View, rows: list[tuple[str, Resolved]]) -> pa.RecordBatch:
    held = [resolved.held or _NOTHING for _, resolved in rows]
    columns: dict[str, Any] = {
        "key": pa.array([key for key, _ in rows], pa.string()),
        "log_offset": pa.array([resolved.offset for _, resolved in rows], pa.int64()),
        "clock": pa.array([resolved.clock for _, resolved in rows], pa.int64()),
        "held": pa.array([resolved.held is not None for _, resolved in rows], pa.bool_()),
        "valid_from": pa.array([upsert.valid_from for upsert in held], pa.int64()),
        "valid_until": pa.array([upsert.valid_until for upsert in held], pa.int64()),
        "label": pa.array([upsert.group for upsert in held], pa.string()),
        "extras": pa.array([upsert.extras.decode() for upsert in held], pa.string()),
    }
    for axis, name in enumerate(coordinates(view)):
        values = [upsert.point[axis] if upsert.point else None for upsert in held]
        columns[name] = pa.array(values, pa.float64())
    return pa.RecordBatch.from_pydict(columns)
