"""Files of every format as batches of updates: the same rows give the same updates."""

from __future__ import annotations

import gzip
import os
import random
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.batch import ROWS
from ingest.check import Checker
from ingest.files.formats import open_file
from ingest.files.layout import Layout
from skyline.errors import InvalidInput
from tests.ingest.harness import WINDOW, view_of

VIEW = view_of("hotels")
AT = 1_700_000_000_000
ROWS_OF_HOTELS: list[dict[str, Any]] = [
    {"key": "a", "price": 10, "rating": 4.5, "city": "Rome", "name": 'Größe, "quoted"\nand more', "when": AT},
    {"key": "b", "price": 1e-7, "rating": -2, "city": "Paris", "name": None, "when": AT + 1},
    {"key": "c", "price": 30.25, "rating": 4, "city": "Rome", "name": "x", "when": AT + 2},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The rows as a file of the format that the name tells."""
    kind = path.suffixes[0]
    if kind == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    if kind == ".jsonl":
        data = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    else:
        delimiter = "\t" if kind == ".tsv" else ","
        lines = [list(rows[0])] + [[_cell(value) for value in row.values()] for row in rows]
        data = "".join(delimiter.join(line) + "\r\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def _cell(value: Any) -> str:
    return "" if value is None else '"' + str(value).replace('"', '""') + '"'


def updates(path: Path, layout: Layout, skip: int = 0, **options: str) -> tuple[list[Any], list[tuple[int, str]]]:
    """(key, fields and time of what can be sent, place and reason of what cannot)."""
    checker = Checker(layout.view)
    sent: list[Any] = []
    refused: list[tuple[int, str]] = []
    with open_file(path, layout, **options) as reader:
        for batch in reader.batches(skip):
            good, bad = checker.split(batch)
            sent += [
                (key, value and {k: v for k, v in orjson.loads(value).items() if v is not None}, at)
                for key, value, at in zip(good.keys, good.values, good.timestamps, strict=True)
            ]
            refused += [(row.place, row.why.reason) for row in bad]
    return sent, refused


FORMATS = ["f.csv", "f.tsv", "f.jsonl", "f.parquet", "f.csv.gz", "f.jsonl.gz"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_updates(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, ROWS_OF_HOTELS)
    sent, refused = updates(path, Layout.of(VIEW, time="when"))
    assert refused == []
    assert sent == [
        (b"a", {"price": 10, "rating": 4.5, "city": "Rome", "name": 'Größe, "quoted"\nand more'}, AT),
        (b"b", {"price": 1e-7, "rating": -2, "city": "Paris"}, AT + 1),
        (b"c", {"price": 30.25, "rating": 4, "city": "Rome", "name": "x"}, AT + 2),
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_columns_can_be_mapped(name: str, tmp_path: Path) -> None:
    rows = [
        {"id": 7, "cost": 3, "stars": 5, "town": "Rome", "gone": False},
        {"id": 8, "cost": 1, "stars": 1, "town": "A", "gone": True},
    ]
    layout = Layout.of(VIEW, "id", ["price=cost", "rating=stars", "city=town"], delete="gone")
    sent, refused = updates(write(tmp_path / name, rows), layout)
    assert refused == []
    assert [(key, value) for key, value, _ in sent] == [(b"7", {"price": 3, "rating": 5, "city": "Rome"}), (b"8", None)]


@pytest.mark.parametrize("name", FORMATS)
def test_rows_that_were_sent_are_skipped(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, ROWS_OF_HOTELS)
    for skip in range(5):
        assert [key for key, _, _ in updates(path, Layout.of(VIEW), skip)[0]] == [b"a", b"b", b"c"][skip:]


@pytest.mark.parametrize("name", FORMATS)
def test_modifications_are_read(name: str, tmp_path: Path) -> None:
    rows = [
        {"key": "a", "$op": "add", "price": 1, "rating": None, "city": None},
        {"key": "b", "$op": None, "price": 1, "rating": 2, "city": "x"},
    ]
    sent, refused = updates(write(tmp_path / name, rows), Layout.of(VIEW))
    if name.startswith("f.jsonl"):  # JSON can say null, and a null dimension is refused
        rows = [{k: v for k, v in row.items() if v is not None} for row in rows]
        sent, refused = updates(write(tmp_path / name, rows), Layout.of(VIEW))
    assert refused == []
    assert [value for _, value, _ in sent] == [{"$op": "add", "price": 1}, {"price": 1, "rating": 2, "city": "x"}]


@pytest.mark.parametrize("name", FORMATS)
def test_elements_of_a_window_need_no_key(name: str, tmp_path: Path) -> None:
    view = view_of("deals", **{"group_by": [], "carry": [], **WINDOW})
    path = write(tmp_path / name, [{"price": 1, "volume": 2}, {"price": 3, "volume": 4}])
    with open_file(path, Layout.of(view)) as reader:
        (batch,) = reader.batches(0)
    assert list(batch.keys) == [None, None]
    if not name.startswith("f.jsonl"):
        with pytest.raises(InvalidInput, match="no column 'id' for the key"):
            open_file(path, Layout.of(view, "id"))


@pytest.mark.parametrize("name", ["f.csv", "f.jsonl", "f.parquet"])
def test_bad_rows_are_refused_by_line_and_cost_no_other(name: str, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"key": "a", "price": "1", "rating": "2", "city": "x", "gone": "no"},
        {"key": "b", "price": "much", "rating": "2", "city": "x", "gone": ""},
        {"key": "", "price": "1", "rating": "2", "city": "x", "gone": ""},
        {"key": "$x", "price": "1", "rating": "2", "city": "x", "gone": ""},
        {"key": "k" * 300, "price": "1", "rating": "2", "city": "x", "gone": ""},
        {"key": "e", "price": "1", "rating": "2", "city": "x", "gone": "perhaps"},
        {"key": "f", "price": "Infinity", "rating": "-Infinity", "city": "x", "gone": "f"},
    ]
    if name != "f.csv":  # there, cells are text
        for row in rows:
            row["price"] = row["price"] if row["price"] in ("much", "Infinity") else 1.0
            row["rating"] = row["rating"] if row["rating"] == "-Infinity" else 2.0
    if name == "f.parquet":
        rows = [{**row, "price": str(row["price"]), "rating": str(row["rating"])} for row in rows]
    sent, refused = updates(write(tmp_path / name, rows), Layout.of(VIEW, delete="gone"))
    first = 2 if name == "f.csv" else 1  # the header is a line
    expected = {1: "bad_value", 2: "bad_key", 3: "bad_key", 4: "bad_key", 5: "bad_value"}
    if name == "f.parquet":  # text is no number in a typed format
        expected |= {0: "bad_value"}
    assert refused == [(first + row, reason) for row, reason in sorted(expected.items())]
    assert [key for key, _, _ in sent] == ([b"f"] if name == "f.parquet" else [b"a", b"f"])


def test_lines_of_csv_count_breaks_within_cells_and_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text('key,price,rating,city\na,1,2,"x\ny"\n\nb,1\n"c\r\nd",1,2,x\ne,,2,x\nf,1,2,x,9\n')
    sent, refused = updates(path, Layout.of(VIEW))
    assert [key for key, _, _ in sent] == [b"a", b"c\r\nd"]
    assert refused == [(5, "bad_row"), (8, "missing_field"), (9, "bad_row")]


@pytest.mark.parametrize(
    ("data", "keys", "places"),
    [
        (b'a,1,2,x\nb,1,2,"x\nc,1,2,x\n', [b"a"], [3]),  # the quote is never closed
        (b'a,1,2,"x\nb,1,2,x\nc,1,2,"y"\nd,1,2,x\n', [b"d"], [2]),  # it is closed by the next one
        (b'a,1,2,"x"y\nb,1,2,x"y"\n', [b"b"], [2]),
        (b"a,1,2," + b"x" * 3_000_000 + b"\nb,1,2,x\n", [b"b"], [2]),
        (b'a,1,2,"x\ny"\nb,1,2,"x" y\n\nc,1,2,x\n', [b"a", b"c"], [4]),
    ],
)
def test_rows_that_are_no_csv_are_refused_and_cost_no_other(
    data: bytes, keys: list[bytes], places: list[int], tmp_path: Path
) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(b"key,price,rating,city\n" + data)
    sent, refused = updates(path, Layout.of(VIEW))
    assert [key for key, _, _ in sent] == keys
    assert refused == [(place, "bad_row") for place in places]
    assert [key for key, _, _ in updates(path, Layout.of(VIEW), skip=1)[0]] == [k for k in keys if k != b"a"]


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_cell_patches_nothing(name: str, tmp_path: Path) -> None:
    until = "2026-11-18T06:41:00Z"
    rows: list[dict[str, Any]] = [
        {"key": "a", "$op": "patch", "price": 1, "rating": 2, "city": "x", "name": None, "valid_until": None},
        {"key": "b", "$op": "patch", "price": 1, "rating": 2, "city": "x", "name": "n", "valid_until": until},
    ]
    if name.startswith("f.jsonl"):  # there a null is said, not left out
        rows = [{k: v for k, v in row.items() if v is not None} for row in rows]
    path = write(tmp_path / name, rows)
    with open_file(path, Layout.of(VIEW)) as reader:
        (batch,) = reader.batches(0)
    assert [orjson.loads(value or b"") for value in batch.values] == [
        {"$op": "patch", "price": 1, "rating": 2, "city": "x"},
        {"$op": "patch", "price": 1, "rating": 2, "city": "x", "name": "n", "valid_until": until},
    ]


@pytest.mark.parametrize("name", ["f.csv", "f.jsonl", "f.parquet"])
def test_large_rows_make_small_batches(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.files.reader.CHUNK_BYTES", 100_000)
    monkeypatch.setattr("ingest.files.parquet_file.CHUNK_BYTES", 100_000)
    noise = random.Random(1)
    rows = [{"key": str(i), "price": i, "rating": i, "city": noise.randbytes(5_000).hex()} for i in range(300)]
    with open_file(write(tmp_path / name, rows), Layout.of(VIEW)) as reader:
        parts = list(reader.batches(0))
    assert [key for part in parts for key in part.keys] == [str(i).encode() for i in range(300)]
    assert max(part.size() for part in parts) < 700_000  # of 3,000,000


def test_lines_of_json_count_empty_ones_and_what_is_no_object(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    good = b'{"key": "a", "price": 1, "rating": 2, "city": "x"}'
    path.write_bytes(
        b"\n".join(
            [
                good,
                b"",
                b"{",
                b"[1]",
                b"  ",
                b"\xff\xfe",
                b"[" * 5000,
                b'{"key": 1.5}',
                good[:-1] + b',"name":' + b"[" * 400 + b"]" * 400 + b"}",
            ]
        )
    )
    sent, refused = updates(path, Layout.of(VIEW))
    assert [key for key, _, _ in sent] == [b"a"]
    assert refused == [
        (3, "bad_json"),
        (4, "not_an_object"),
        (6, "bad_json"),
        (7, "bad_json"),
        (8, "bad_key"),
        (9, "bad_value"),
    ]


def test_bytes_that_are_not_utf8_cost_their_row_only(tmp_path: Path) -> None:
    csv = tmp_path / "f.csv"
    csv.write_bytes(b"key,price,rating,city\n\xff,1,2,x\nb,1,2,\xfe\nc,1,2,x\n")
    sent, refused = updates(csv, Layout.of(VIEW))
    assert [key for key, _, _ in sent] == [b"c"]
    assert refused == [(2, "bad_key"), (3, "bad_json")]
    table = pa.table(
        {
            "key": pa.array([b"\xff", b"b", b"c"]),
            "price": [1, 1, 1],
            "rating": [2, 2, 2],
            "city": pa.array([b"x", b"\xfe", b"x"]),
        }
    )
    pq.write_table(table, tmp_path / "f.parquet")
    sent, refused = updates(tmp_path / "f.parquet", Layout.of(VIEW))
    assert [key for key, _, _ in sent] == [b"c"]
    assert refused == [(1, "bad_key"), (2, "bad_value")]


@pytest.mark.parametrize("name", ["f.csv", "f.jsonl", "f.csv.gz", "f.jsonl.gz"])
def test_a_byte_order_mark_is_no_part_of_the_first_row(name: str, tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    path = write(tmp_path / name, ROWS_OF_HOTELS[2:])
    data = mark + (gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes())
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    sent, refused = updates(path, Layout.of(VIEW))
    assert ([key for key, _, _ in sent], refused) == ([b"c"], [])


def test_empty_lines_before_the_header_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("\n\nkey,price,rating,city\na,x,2,x\n")
    assert updates(path, Layout.of(VIEW))[1] == [(4, "bad_value")]


def test_columns_that_are_not_read_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("key,price,rating,city,,,note,note\na,1,2,x,,,,\n")
    assert [key for key, _, _ in updates(path, Layout.of(VIEW))[0]] == [b"a"]


def test_cells_that_are_json(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text('key,price,rating,city,name\na,1,2,7,"{""de"": [1, 2]}"\nb,1,2,x,\n')
    sent, _ = updates(path, Layout.of(VIEW, json=["city", "name"]))
    assert [value for _, value, _ in sent] == [
        {"price": 1, "rating": 2, "city": 7, "name": {"de": [1, 2]}}, {"price": 1, "rating": 2, "city": "x"},
    ]  # fmt: skip


def test_parquet_types_that_are_no_json(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 18, 6, 41, tzinfo=UTC)
    table = pa.table(
        {
            "key": pa.array([1, 2, 3], pa.int64()),
            "price": pa.array([Decimal("1.50"), None, Decimal("2.25")], pa.decimal128(9, 2)),
            "rating": pa.array([1.5, 2.0, float("nan")], pa.float32()),
            "city": pa.array(["x", "x", "x"]).dictionary_encode(),
            "name": pa.array([b"ab", b"", b"c"]),
            "valid_until": pa.array([moment] * 3, pa.timestamp("ns", "UTC")),
            "when": pa.array([datetime(2026, 11, 18, 6, 40)] * 3, pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "f.parquet")
    sent, refused = updates(tmp_path / "f.parquet", Layout.of(VIEW, time="when"))
    fields = {"price": 1.5, "rating": 1.5, "city": "x", "name": "ab", "valid_until": "2026-11-18T06:41:00+00:00"}
    assert sent == [(b"1", fields, 1_794_984_000_000)]
    assert refused == [(2, "missing_field"), (3, "bad_value")]


def test_parquet_values_that_python_cannot_hold_cost_their_row_only(tmp_path: Path) -> None:
    far = pa.array([2**62, 1_794_984_060_000_000, None], pa.timestamp("us"))
    table = pa.table(
        {
            "key": pa.array([Decimal(1), Decimal(2), Decimal(3)], pa.decimal128(38, 0)),
            "price": [1, 2, 3], "rating": [1, 2, 3], "city": ["x", "y", "z"],
            "valid_until": far,
            "name": pa.StructArray.from_arrays([far], ["at"]),
            "when": pa.array([20_000, 20_001, 2**31 - 1], pa.date32()),
            "zoned": pa.array([1, 2, 3], pa.timestamp("ms", "Mars/Olympus")),
        }
    )  # fmt: skip
    pq.write_table(table, tmp_path / "f.parquet")
    sent, refused = updates(tmp_path / "f.parquet", Layout.of(VIEW, time="when", pairs=["valid_from=zoned"]))
    assert [(key, fields["valid_from"], at) for key, fields, at in sent] == [
        (b"2", "1970-01-01T00:00:00.002000+00:00", 20_001 * 86_400_000)
    ]
    assert refused == [(1, "bad_value"), (3, "bad_time")]


def test_batches_end_where_they_should(tmp_path: Path) -> None:
    rows = [{"key": str(i), "price": i, "rating": i, "city": "x"} for i in range(ROWS + 5)]
    for name in ("f.csv", "f.jsonl", "f.parquet"):
        path = write(tmp_path / name, rows)
        with open_file(path, Layout.of(VIEW)) as reader:
            parts = list(reader.batches(3))
            assert reader.position() == reader.total
        assert sum(map(len, parts)) == ROWS + 2
        assert [key for part in parts for key in part.keys] == [str(i).encode() for i in range(3, ROWS + 5)]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("f.csv", b"", "is empty: a CSV file begins with a line of column names"),
        ("f.csv", b"\n\n", "is empty: a CSV file begins"),
        ("f.csv", b'"key,price', "f.csv:1: what ends on line 1 is not CSV"),
        ("f.csv", "key,price".encode("utf-16"), "is not UTF-8: convert it first, such as with iconv -f UTF-16"),
        ("f.csv", b"key;price;rating;city\n", "it has: key;price;rating;city; is --delimiter right?"),
        ("f.csv", b"key,key,price,rating,city\n", "column 'key' occurs twice"),
        ("f.csv", b"id,price,rating,city\n", r"no column 'key' for the key \(--key\); it has: id, price, rating, city"),
        ("f.csv", b"key,rating,city\n", r"no column 'price' for dimension price \(--map price=COLUMN\)"),
        ("f.csv", b"key,price,rating\n", "no column 'city' for group field city"),
        ("f.csv.gz", b"key,price", "Not a gzipped file"),
        ("f.parquet", b"PAR1 and nothing else", "is not Parquet"),
        ("f.xlsx", b"", "the name does not tell the format; say --format csv"),
    ],
)
def test_files_that_cannot_be_sent(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidInput, match=message):
        open_file(tmp_path / name, Layout.of(VIEW)).close()


def test_a_torn_gzip_is_an_error_after_what_could_be_read(tmp_path: Path) -> None:
    for name in ("f.csv.gz", "f.jsonl.gz"):
        path = write(tmp_path / name, ROWS_OF_HOTELS * 100)
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(InvalidInput, match="ended before the end-of-stream marker"):
            updates(path, Layout.of(VIEW))


def test_what_can_be_read_only_once_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.csv")  # nobody writes to it: whoever opens it waits
    with pytest.raises(InvalidInput, match=r"can be read only once, .* save it first"):
        open_file(tmp_path / "f.csv", Layout.of(VIEW))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pairs": ["price"]}, "--map takes FIELD=COLUMN"),
        ({"pairs": ["cost=price"]}, "view 'hotels' has no field 'cost'; its fields are: price, rating, city, name"),
        ({"json": ["price"]}, "--json price: only group and carried fields"),
    ],
)
def test_layouts_that_mean_nothing(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Layout.of(VIEW, **arguments)


def test_a_mapped_column_must_be_there(tmp_path: Path) -> None:
    path = write(tmp_path / "f.csv", ROWS_OF_HOTELS)
    for layout, missing in [
        (Layout.of(VIEW, pairs=["name=label"]), "label"),
        (Layout.of(VIEW, time="then"), "then"),
        (Layout.of(VIEW, delete="gone=1"), "gone"),
    ]:
        with pytest.raises(InvalidInput, match=f"no column '{missing}'"):
            open_file(path, layout)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.binary(max_size=400), st.sampled_from(["f.csv", "f.jsonl", "f.tsv"]))
def test_any_bytes_are_rows_refusals_or_one_error(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / name
    header = (
        b"key\tprice\trating\tcity\n" if name == "f.tsv" else b"key,price,rating,city\n" if name == "f.csv" else b""
    )
    path.write_bytes(header + data)
    try:
        sent, refused = updates(path, Layout.of(VIEW))
    except InvalidInput:
        return
    assert len(sent) + len(refused) <= data.count(b"\n") + data.count(b"\r") + 1


def test_marks_of_deletion() -> None:
    yes_or_no = Layout.of(VIEW, delete="gone")
    assert [yes_or_no.deletes(mark) for mark in ("yes", "D", True, 1, "no", "", None, 0, False)] == [True] * 4 + [
        False
    ] * 5
    by_value = Layout.of(VIEW, delete="op=DEL")
    assert [by_value.deletes(mark) for mark in ("DEL", "del", "", None)] == [True, False, False, False]
