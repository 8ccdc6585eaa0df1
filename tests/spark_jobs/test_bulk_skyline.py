"""The skyline of a table is what the definition says, however rows are dealt, grouped and filtered."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from skyline.batch import skyband_of
from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings
from skyline.wire.updates import write_update
from spark_jobs import bulk_local
from spark_jobs.bulk_columns import Columns
from spark_jobs.bulk_partition import cell
from spark_jobs.bulk_skyline import main, skyline
from spark_jobs.cli import JobError, one_line
from spark_jobs.kafka import Kafka
from tests import naive

pytestmark = pytest.mark.spark

Row = tuple[int, float, int, str | None]
DIMENSIONS = {"price": "min", "rating": "max"}


def hotels(seed: int, count: int) -> list[Row]:
    """(id, price, rating, city), with many ties, infinities and a city that is null."""
    rng = np.random.default_rng(seed)
    prices = rng.choice(
        [1.0, 2.0, 3.5, 5.0, 8.0, 9.0, np.inf, -np.inf], count, p=[0.1, 0.2, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05]
    )
    cities = ["oslo", "rome", None]
    return [
        (i, float(prices[i]), int(rng.integers(0, 6)), cities[int(rng.integers(3))]) for i in range(count)
    ]  # fmt: skip


def table(spark: SparkSession, rows: Sequence[Any], schema: str, parts: int = 5) -> DataFrame:
    return spark.createDataFrame(rows, schema).repartition(parts)


def expected(rows: list[Row], k: int, grouped: bool) -> list[int]:
    ids: list[int] = []
    for city in {row[3] for row in rows} if grouped else {None}:
        group = [row for row in rows if not grouped or row[3] == city]
        points = [(row[1], -float(row[2])) for row in group]
        ids += [group[place][0] for place in naive.skyband(points, k)]
    return sorted(ids)


@pytest.mark.parametrize(
    ("partitioning", "diff", "k"),
    [
        ("none", [], 1),
        ("none", [], 3),
        ("none", ["city"], 1),
        ("random", ["city"], 2),
        ("grid", [], 1),
        ("grid", [], 2),
        ("angle", [], 1),
        ("angle", ["city"], 1),
    ],
)
def test_members_are_those_of_the_definition(
    spark: SparkSession, partitioning: str, diff: list[str], k: int
) -> None:  # fmt: skip
    rows = hotels(1, 400)
    given = table(spark, rows, "id int, price double, rating int, city string")
    found = skyline(given, DIMENSIONS, diff, k, partitioning=partitioning)
    assert found.schema == given.schema
    by_id = {row[0]: row for row in rows}
    got = [tuple(row) for row in found.collect()]
    assert sorted(row[0] for row in got) == expected(rows, k, bool(diff))
    assert all(row == by_id[row[0]] for row in got)


@pytest.mark.parametrize("k", [1, 2])
def test_more_dimensions_and_names_with_dots(spark: SparkSession, k: int) -> None:
    points = np.random.default_rng(5).random((600, 4))
    rows = [(i, *map(float, point)) for i, point in enumerate(points)]
    given = table(spark, rows, "id int, a double, b double, c double, `d.e` double", 3)
    found = skyline(given, dict.fromkeys(["a", "b", "c", "d.e"], "min"), k=k)
    assert sorted(row.id for row in found.collect()) == naive.skyband(points.tolist(), k)


@pytest.mark.parametrize(("limit", "value"), [("BUFFER", 16), ("BUFFER_BYTES", 512)])
def test_a_task_drops_rows_while_it_reads(monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    """After so many of them, or so many bytes."""
    monkeypatch.setattr(bulk_local, limit, value)
    sizes: list[int] = []

    def noted(points: Any, *more: Any, **named: Any) -> Any:
        sizes.append(len(points))
        return skyband_of(points, *more, **named)

    monkeypatch.setattr(bulk_local, "skyband_of", noted)
    points = np.random.default_rng(6).integers(0, 9, (300, 3)).astype(float)
    columns = {"x": points[:, 0], "y": points[:, 1], "z": points[:, 2], "row": np.arange(300)}
    batches = pa.table(columns).to_batches(max_chunksize=7)
    found = pa.Table.from_batches(list(bulk_local.local_skyline(["x", "y", "z"], [], 1)(iter(batches))))
    assert sorted(found.column("row").to_pylist()) == naive.skyline(points.tolist())
    assert len(sizes) > 4
    assert max(sizes) < 100
    assert list(bulk_local.local_skyline(["x"], [], 1)(iter([]))) == []


def test_nulls_are_refused_or_left_out(spark: SparkSession) -> None:
    given = table(
        spark, [(1, 5.0, 1), (2, None, 9), (3, float("nan"), 9), (4, 4.0, 0)], "id int, price double, rating int"
    )
    with pytest.raises(PySparkException) as refused:
        skyline(given, DIMENSIONS).collect()
    assert "null or NaN, which has no order" in one_line(refused.value)
    assert "\n" not in one_line(refused.value)
    kept = skyline(given, DIMENSIONS, nulls="drop").collect()
    assert sorted(row.id for row in kept) == [1, 4]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("bigint", [2**53, 2**53 + 1]),
        ("bigint", [2**63 - 2]),
        ("decimal(20,0)", [Decimal(10**17), Decimal(10**17 + 1)]),
        ("decimal(38,0)", [Decimal("9" * 38)]),
    ],
)
def test_numbers_that_a_double_cannot_tell_apart_are_refused(spark: SparkSession, kind: str, values: list[Any]) -> None:
    given = table(spark, [(value,) for value in values], f"price {kind}", 1)
    with pytest.raises(PySparkException, match="more digits than a double holds"):
        skyline(given, {"price": "min"}).collect()


def test_whole_numbers_and_decimals_that_fit_are_taken(spark: SparkSession) -> None:
    rows = [(2**53 - 1, Decimal("0.10")), (2**53 - 2, Decimal("0.11")), (2**53 - 1, Decimal("0.11"))]
    given = table(spark, rows, "big bigint, price decimal(10,2)", 2)
    assert sorted(map(tuple, skyline(given, {"big": "min", "price": "min"}).collect())) == sorted(rows[:2])


def test_no_rows_give_no_rows(spark: SparkSession) -> None:
    given = spark.createDataFrame([], "price double, rating int, city string")
    assert skyline(given, DIMENSIONS).collect() == []
    assert skyline(given, DIMENSIONS, ["city"], partitioning="angle").collect() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dimensions": {"cost": "min"}}, "no column 'cost'; columns are: id, price, rating, city"),
        ({"dimensions": {"city": "min"}}, "column 'city' is string, not a number: cast it"),
        ({"dimensions": {"price": "best"}}, 'direction must be "min" or "max"'),
        ({"diff": ["price"]}, "column 'price' is double: groups need"),
        ({"diff": "city"}, r"diff takes a list of columns, such as \['city'\]"),
        ({"k": 0}, "k must be an integer of at least 1"),
        ({"partitioning": "hash"}, "partitioning must be one of none, random, grid, angle"),
        ({"nulls": "zero"}, "nulls must be one of refuse, drop"),
    ],
)
def test_what_cannot_be_done_is_said(spark: SparkSession, arguments: dict[str, Any], message: str) -> None:
    given = table(spark, hotels(1, 3), "id int, price double, rating int, city string", 1)
    with pytest.raises(InvalidInput, match=message):
        skyline(given, **{"dimensions": DIMENSIONS, **arguments})


@pytest.mark.parametrize("diff", [[], ["g.x y"]])
def test_columns_may_have_any_names(spark: SparkSession, diff: list[str]) -> None:
    """Dots, backticks and quotes, names of the job's own, such as differ in case; others may come twice."""
    names = ["a.b", "A.B", "c`d", "_skyline_0", "_SKYLINE_1", "c0", "it's", "it's"]
    rng = np.random.default_rng(7)
    rows: list[Any] = [(*map(float, rng.integers(0, 9, 8)), "xyz"[i % 3]) for i in range(90)]
    given = table(spark, rows, ", ".join([f"x{i} double" for i in range(8)] + ["g string"])).toDF(*names, "g.x y")
    found = skyline(given, {"a.b": "min", "A.B": "min", "c`d": "max"}, diff)
    assert found.schema == given.schema
    expected = []
    for label in "xyz" if diff else [None]:
        group = [row for row in rows if label is None or row[8] == label]
        expected += [group[i] for i in naive.skyline([(row[0], row[1], -row[2]) for row in group])]
    assert sorted(map(tuple, found.collect())) == sorted(expected)
    with pytest.raises(InvalidInput, match='there are several columns "it\'s": rename them'):
        skyline(given, {"it's": "min"})


def test_text_that_ignores_case_is_no_group(spark: SparkSession) -> None:
    """Here "Oslo" and "oslo" would be two groups, to Spark they are one."""
    given = spark.sql("SELECT 1.0D AS price, 'Oslo' COLLATE UTF8_LCASE AS city")
    with pytest.raises(InvalidInput, match="column 'city' is string collate UTF8_LCASE: groups need text"):
        skyline(given, {"price": "min"}, ["city"])


def test_a_group_column_may_be_named_twice(spark: SparkSession) -> None:
    rows = hotels(3, 60)
    given = table(spark, rows, "id int, price double, rating int, city string", 2)
    found = skyline(given, DIMENSIONS, ["city", "city"]).collect()
    assert sorted(row.id for row in found) == expected(rows, 1, True)


@pytest.mark.parametrize("kind", ["grid", "angle"])
def test_a_sorted_table_is_dealt_evenly(spark: SparkSession, kind: str) -> None:
    """That is what these are for: the first rows say nothing about the others."""
    points = np.random.default_rng(8).random((4000, 2))
    points = points[np.argsort(-points[:, 0])]
    given = spark.createDataFrame(
        [tuple(map(float, point)) for point in points], "_skyline_0 double, _skyline_1 double"
    )
    columns = Columns.of(given.toDF("x", "y"), {"x": "min", "y": "min"}, [], "refuse")
    shares = [row["count"] for row in given.groupBy(cell(given, kind, columns, 4)).count().collect()]
    assert len(shares) == 4
    assert max(shares) < 1200


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_in_and_out(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    rows = [row for row in hotels(2, 60) if np.isfinite(row[1])]
    source, out = str(tmp_path / f"in.{kind}"), str(tmp_path / "out")
    given = table(spark, rows, "id int, price double, rating int, city string", 2)
    given.write.option("header", True).format(kind).save(source)
    options = ["--min", "price", "--max", "rating", "--diff", "city", "--out", out, "--format", kind]
    assert main([source, *options]) == 0
    with pytest.raises(JobError, match="is there already: --overwrite replaces it"):
        main([source, *options])
    assert main([source, *options, "--overwrite"]) == 0
    found = spark.read.csv(out, header=True, inferSchema=True) if kind == "csv" else spark.read.parquet(out)
    assert sorted(row.id for row in found.collect()) == expected(rows, 1, True)


def test_rows_are_shown_as_they_are(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing in them is a command to the terminal's table."""
    given = table(spark, [("[red]x[/nothing]", 2.0)], "`[bold]id` string, price double", 1)
    given.createOrReplaceTempView("rude")
    assert main(["--table", "rude", "--min", "price"]) == 0
    shown = capsys.readouterr().out
    assert "[red]x[/nothing]" in shown
    assert "[bold]id" in shown


def test_a_table_of_the_catalogue(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    table(spark, [(1, 2.0), (2, 1.5)], "id int, price double", 1).createOrReplaceTempView("offers")
    assert main(["--table", "offers", "--min", "price"]) == 0
    assert "1.5" in capsys.readouterr().out


@pytest.mark.kafka
def test_a_topic_counts_each_keys_last_record(
    spark: SparkSession, topics: Kafka, kafka: KafkaSettings, unique: str, tmp_path: Path
) -> None:
    admin = AdminClient(kafka.client())
    admin.create_topics([NewTopic(unique, 1)])[unique].result(30)
    producer = Producer(kafka.client())
    for key, price in (("a", 1.0), ("b", 2.0), ("c", 2.0), ("a", 3.0), ("d", 1.0), ("d", None)):
        producer.produce(unique, write_update(None if price is None else {"price": price, "city": "oslo"}), key)
    assert producer.flush(30) == 0
    command = ["--topic", unique, "--bootstrap", topics.bootstrap, "--min", "price", "--diff", "city"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    assert sorted(row.key for row in spark.read.parquet(str(tmp_path / "out")).collect()) == ["b", "c"]
    assert main([*command, "--every-record", "--nulls", "drop", "--out", str(tmp_path / "all")]) == 0
    assert sorted(row.key for row in spark.read.parquet(str(tmp_path / "all")).collect()) == ["a", "d"]


@pytest.mark.kafka
def test_a_topic_is_read_in_all_its_partitions(
    spark: SparkSession, topics: Kafka, kafka: KafkaSettings, unique: str, tmp_path: Path
) -> None:
    """Keyless records are a row each; a field may have the name of a column that the source has."""
    admin = AdminClient(kafka.client())
    admin.create_topics([NewTopic(unique, 3)])[unique].result(30)
    producer = Producer(kafka.client())
    rows = [(f"k{i}", i % 3, 10.0 - i, float(i)) for i in range(6)] + [(None, 1, 4.5, 4.5), (None, 1, 4.5, 4.5)]
    for key, partition, price, offset in rows:
        producer.produce(unique, write_update({"price": price, "offset": offset}), key, partition)
    assert producer.flush(30) == 0
    out = str(tmp_path / "out")
    command = ["--topic", unique, "--bootstrap", topics.bootstrap, "--min", "price", "--min", "offset", "--out", out]
    assert main(command) == 0
    points = [(price, offset) for _, _, price, offset in rows]
    found = sorted((row.price, row.offset) for row in spark.read.parquet(out).collect())
    assert found == sorted(points[place] for place in naive.skyline(points))


def test_an_input_without_rows_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    empty = str(tmp_path / "empty.parquet")
    spark.createDataFrame([], "price double").write.parquet(empty)
    with pytest.raises(JobError, match="has no rows"):
        main([empty, "--min", "price"])
    with pytest.raises(JobError, match="name one input"):
        main(["--min", "price"])
    with pytest.raises(PySparkException) as missing:
        main([str(tmp_path / "nowhere"), "--min", "price"])
    assert one_line(missing.value).startswith("Path does not exist")
    with pytest.raises(PySparkException) as unknown:
        main(["--table", "nowhere", "--min", "price"])
    assert "SQLSTATE" not in one_line(unknown.value)
    with pytest.raises(SystemExit):
        main([empty, "--min", "price", "--limit", "-1"])
