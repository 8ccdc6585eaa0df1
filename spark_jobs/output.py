"""Where the rows of a job go: to the terminal, or to files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, MapType, StructType

from spark_jobs.bulk_columns import column
from spark_jobs.cli import JobError, positive
from spark_jobs.storage import Storage
from spark_jobs.tables import show


def add_output(made: argparse.ArgumentParser) -> None:
    """--out PATH with --format and --overwrite, --limit."""
    made.add_argument("--out", metavar="PATH", help="directory to write all rows to, instead of showing some")
    made.add_argument("--format", choices=("parquet", "csv"), default="parquet", help="how --out is written")
    made.add_argument("--overwrite", action="store_true", help="replace what is at --out")
    made.add_argument("--limit", type=positive, default=20, help="rows to show")


def check_output(spark: SparkSession, arguments: argparse.Namespace) -> None:
    """Raises where --out would replace something unasked: before the work, not after it."""
    if arguments.out is not None and not arguments.overwrite and Storage(spark, arguments.out).exists(""):
        raise JobError(f"{arguments.out} is there already: --overwrite replaces it")


def give(rows: DataFrame, arguments: argparse.Namespace, title: str, order: Sequence[str] = ()) -> None:
    """Shows the first rows in this order, or writes all in any."""
    if arguments.out is None:
        show(rows.orderBy(*order) if order else rows, arguments.limit, title)
    else:
        write(rows, arguments)


def write(rows: DataFrame, arguments: argparse.Namespace) -> None:
    """Writes the rows to --out as Parquet, or as CSV with a header (nested columns as JSON)."""
    if arguments.format == "csv":
        nested = [field.name for field in rows.schema if isinstance(field.dataType, ArrayType | MapType | StructType)]
        rows = rows.withColumns({name: F.to_json(column(name)) for name in nested})
    writer = rows.write.mode("overwrite" if arguments.overwrite else "errorifexists")
    if arguments.format == "csv":
        writer.csv(arguments.out, header=True, timestampFormat="yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
    else:
        writer.parquet(arguments.out)
