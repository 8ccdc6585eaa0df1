"""Where a bulk skyline's rows come from: files, a table of the catalogue, or a Kafka topic."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from spark_jobs import cli
from spark_jobs.bulk_columns import PREFIX
from spark_jobs.kafka import Topics, kafka_of, records


def add_input(made: argparse.ArgumentParser) -> None:
    """PATH, --table or --topic."""
    made.add_argument(
        "path", nargs="?", help="Parquet, or CSV with a header; a file, a directory, or any URL of Spark's"
    )
    made.add_argument("--input", choices=("parquet", "csv"), help="what PATH is; default by its name")
    made.add_argument("--table", metavar="NAME", help="a table or view of Spark's catalogue, instead of PATH")
    made.add_argument("--topic", metavar="NAME", help="a Kafka topic of JSON objects, instead of PATH")
    made.add_argument("--every-record", action="store_true", help="with --topic: all records, not each key's last one")


def read_input(spark: SparkSession, arguments: argparse.Namespace, dimensions: Iterable[str]) -> DataFrame:
    """The rows that the command line names; none at all is an error."""
    sources = [source for source in (arguments.path, arguments.table, arguments.topic) if source is not None]
    if len(sources) != 1:
        raise cli.JobError("name one input: PATH, --table NAME or --topic NAME")
    if arguments.topic is not None:
        return _topic(spark, arguments, dimensions)
    if arguments.table is not None:
        rows = spark.table(arguments.table)
    elif (arguments.input or _kind(arguments.path)) == "csv":
        rows = spark.read.csv(arguments.path, header=True, inferSchema=True)
    else:
        rows = spark.read.parquet(arguments.path)
    if rows.isEmpty():
        raise cli.JobError(f"{sources[0]} has no rows")
    return rows


def _kind(path: str) -> str:
    name = path.rstrip("/").lower()
    return "csv" if name.endswith((".csv", ".csv.gz")) else "parquet"


def _topic(spark: SparkSession, arguments: argparse.Namespace, dimensions: Iterable[str]) -> DataFrame:
    """One row per key, its last value unless that is null: key, partition, offset, at, value, and the fields asked for.

    A record without a key is a row of its own. Dimensions are read as numbers, groups as text; a value that is not
    JSON, or lacks a dimension, gives nulls.
    """
    kafka = kafka_of(arguments)
    with Topics(spark, kafka) as topics:
        spans = topics.spans(arguments.topic)
    if not sum(map(len, spans.values())):
        raise cli.JobError(f"topic {arguments.topic} has no records")
    fields = [StructField(name, DoubleType()) for name in dimensions]
    fields += [StructField(name, StringType()) for name in arguments.diff]
    text = F.col("value").cast("string")
    found = records(spark, kafka, arguments.topic, spans)
    if not arguments.every_record:
        # a key has one partition, unless some were added: then its records are told apart by their times
        order = [F.desc("offset")] if len(spans) == 1 else [F.desc("timestamp"), F.desc("offset")]
        age = F.row_number().over(Window.partitionBy("key").orderBy(*order))
        found = found.withColumn("age", age).where("(age = 1 or key is null) and value is not null")
    named = {
        "key": F.col("key").cast("string"),
        "partition": F.col("partition"),
        "offset": F.col("offset"),
        "at": F.col("timestamp"),
        "value": text,
    }
    shown = [given.alias(name) for name, given in named.items() if name not in {field.name for field in fields}]
    parsed = F.from_json(text, StructType(fields)).alias(f"{PREFIX}fields")
    return found.select(*shown, parsed).select("*", f"{PREFIX}fields.*").drop(f"{PREFIX}fields")
