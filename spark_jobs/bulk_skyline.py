"""The skyline, k-skyband or group-by skyline of any table: Parquet, CSV, a table of the catalogue, a Kafka topic.

    python -m spark_jobs.bulk_skyline hotels.parquet --min price --max rating --diff city
    python -m spark_jobs.bulk_skyline --topic hotels.updates --min price --max rating --k 3 --out best

In a job of your own:

    from spark_jobs.bulk_skyline import skyline
    best = skyline(df, {"price": "min", "rating": "max"}, diff=["city"], k=1)

1. A sample of the rows gives a few strong points; rows that they dominate end in the scan, in the JVM. 2. Each task
computes the skyline of its rows, batch by batch. 3. Local skylines are merged in a tree, eight to one, so that no task
sees all candidates; with groups, by group instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from skyline.errors import InvalidInput
from skyline.view import positive
from spark_jobs import cli
from spark_jobs.bulk_columns import NULLS, Columns, place
from spark_jobs.bulk_input import add_input, read_input
from spark_jobs.bulk_local import local_skyline
from spark_jobs.bulk_partition import PARTITIONING, deal
from spark_jobs.bulk_sample import Sample, undominated, without_weak
from spark_jobs.kafka import add_kafka
from spark_jobs.output import add_output, check_output, give
from spark_jobs.progress import step
from spark_jobs.session import open_session

FAN_IN: Final = 8
"""Local skylines that one task of the tree merges."""


def skyline(
    rows: DataFrame,
    dimensions: Mapping[str, str],
    diff: Sequence[str] = (),
    k: int = 1,
    *,
    partitioning: str = "none",
    nulls: str = "refuse",
) -> DataFrame:
    """The rows, with all their columns, that fewer than k rows of the same group dominate.

    dimensions    {column: "min" | "max"}, 1 to 16 numbers; equal rows do not dominate each other
    diff          columns that tell groups apart: one skyline each; null is a group of its own
    k             1 is the skyline, more the k-skyband
    partitioning  how rows are dealt to tasks: "none" (as they lie), "random", "grid", "angle"
    nulls         what becomes of null or NaN in a dimension: "refuse" fails the job, "drop" leaves the row out

    Lazy but for a small job that samples the first rows, and for "grid" and "angle" one or two passes over all. `rows`
    must give the same rows whenever it is computed.
    """
    positive("k", k)
    if partitioning not in PARTITIONING:
        raise InvalidInput(f"partitioning must be one of {', '.join(PARTITIONING)}, got {partitioning!r}")
    columns = Columns.of(rows, dimensions, diff, nulls)
    given = rows.toDF(*map(place, range(len(rows.columns))))
    sample = Sample.of(given, columns)
    if columns.diff:
        left = columns.admitted(given)
        if k == 1 and len(sample.points):
            left = without_weak(left, sample, columns)
    else:
        left = columns.admitted(given, undominated(sample, columns, k))
    tasks = _tasks(rows.sparkSession)
    members = _local(deal(left, partitioning, columns, tasks), columns, k)
    if columns.diff:
        members = _local(members.repartition(tasks, *columns.diff), columns, k)
    else:
        for count in _levels(tasks):
            members = _local(members.repartition(count), columns, k)
    return members.drop(*columns.names).toDF(*rows.columns)


def _local(rows: DataFrame, columns: Columns, k: int) -> DataFrame:
    """The skyline of every partition by itself."""
    return rows.mapInArrow(local_skyline(columns.names, list(columns.diff), k), rows.schema)


def _tasks(spark: SparkSession) -> int:
    """Tasks of a shuffle: what the session says, but no more than four to a core."""
    most: int = 4 * spark.sparkContext.defaultParallelism
    return min(most, int(str(spark.conf.get("spark.sql.shuffle.partitions"))))


def _levels(tasks: int) -> Iterator[int]:
    """Tasks of every level of the tree, up to its root.

    >>> list(_levels(200))
    [25, 4, 1]
    """
    while tasks > 1:
        tasks = -(-tasks // FAN_IN)
        yield tasks


def main(argv: Sequence[str]) -> int:
    parser = cli.parser("The skyline, k-skyband or group-by skyline of a table.")
    add_input(parser)
    add_kafka(parser)
    parser.add_argument("--min", action="append", default=[], metavar="COLUMN", help="smaller is better; repeatable")
    parser.add_argument("--max", action="append", default=[], metavar="COLUMN", help="larger is better; repeatable")
    parser.add_argument(
        "--diff", action="append", default=[], metavar="COLUMN", help="one skyline per value; repeatable"
    )
    parser.add_argument("--k", type=cli.positive, default=1, help="rows that fewer than so many rows dominate")
    parser.add_argument("--partitioning", choices=PARTITIONING, default="none", help="how rows are dealt to tasks")
    parser.add_argument(
        "--nulls", choices=NULLS, default="refuse", help="null or NaN in a dimension: fail, or leave out"
    )
    add_output(parser)
    arguments = parser.parse_args(argv)
    dimensions = dict.fromkeys(arguments.min, "min") | dict.fromkeys(arguments.max, "max")
    if len(dimensions) < len(arguments.min) + len(arguments.max):
        parser.error("a column is named twice among --min and --max")
    if not dimensions:
        parser.error("name the dimensions with --min COLUMN and --max COLUMN")
    spark = open_session("bulk_skyline", arguments.master, kafka=arguments.topic is not None)
    check_output(spark, arguments)
    rows = read_input(spark, arguments, dimensions)
    with step(spark, "sampling"):
        members = skyline(
            rows, dimensions, arguments.diff, arguments.k, partitioning=arguments.partitioning, nulls=arguments.nulls
        )
    with step(spark, "skyline"):
        give(members, arguments, "skyline" if arguments.k == 1 else f"{arguments.k}-skyband")
    return cli.DONE


if __name__ == "__main__":
    cli.run(main)
