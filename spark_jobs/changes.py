"""Change records as columns. Names and types come from the record that skyline.wire defines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, get_type_hints

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DoubleType, LongType, MapType, StringType, StructField, StructType

from skyline.wire.changes import ChangeRecord, MemberRecord

_TYPES: Final[dict[Any, DataType]] = {
    int: LongType(),
    str: StringType(),
    dict[str, float]: MapType(StringType(), DoubleType()),
    Mapping[str, Any]: StringType(),  # group and carried fields stay the JSON that they are
}


def schema_of(kind: type[ChangeRecord | MemberRecord]) -> StructType:
    """The record as Spark reads it from JSON."""
    hints = get_type_hints(kind)
    return StructType([StructField(entry.name, _TYPES[hints[entry.name]]) for entry in fields(kind)])


def read_records(records: DataFrame, kind: type[ChangeRecord | MemberRecord], view: str) -> DataFrame:
    """Columns of the values of Kafka `records`; one that is not of this kind fails the job with its offset.

    `view` and `log_offset` (the record's own offset) are added, `at` becomes a timestamp.
    """
    text = F.col("value").cast("string")
    place = F.concat(F.col("topic"), F.lit(" offset "), F.col("offset").cast("string"))
    refusal = F.raise_error(F.concat(place, F.lit(f": not a {kind.__name__}: "), F.substring(text, 1, 100)))
    # in two steps: otherwise Spark parses once for the check and once for the columns
    parsed = records.select("*", F.from_json(text, schema_of(kind)).alias("record"))
    checked = F.when(F.col("record.seq").isNull(), refusal).otherwise(F.col("record"))
    rows = parsed.select(F.col("offset").alias("log_offset"), checked.alias("record"))
    return rows.select("record.*", "log_offset", F.lit(view).alias("view")).withColumn("at", F.timestamp_millis("at"))


def read_changes(records: DataFrame, view: str) -> DataFrame:
    """Kafka records of V.changes as rows of the archive, without its date."""
    return read_records(records, ChangeRecord, view)
