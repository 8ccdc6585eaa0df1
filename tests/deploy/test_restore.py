"""A view's updates come back from the archive as they were, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deploy.cli.__main__ import main
from deploy.cli.reading import everything
from deploy.cli.restore import find_parts, in_order
from deploy.local.broker import Broker
from skyline.errors import SkylineError
from skyline.runtime.config import KafkaSettings
from skyline.wire.updates import MAX_VALUE_BYTES

Row = tuple[bytes, bytes | None, int, int]
ROWS: list[Row] = [(f"k{i % 7}".encode(), None if i % 5 == 0 else b'{"a":%d}' % i, 1000 * i + 1, i) for i in range(40)]


def _archive(root: Path, view: str, *files: list[Row]) -> Path:
    """Files as the Spark job writes them: event time in nanoseconds, spread over dates."""
    for number, rows in enumerate(files):
        path = root / "updates" / f"view={view}" / f"date=2026-01-{number + 1:02d}" / f"{number}.parquet"
        path.parent.mkdir(parents=True)
        columns = list(zip(*rows, strict=True))
        times = [datetime.fromtimestamp(at / 1000, UTC) for at in columns[2]]
        table = {
            "key": pa.array(columns[0], pa.binary()),
            "value": pa.array(columns[1], pa.binary()),
            "at": pa.array(times, pa.timestamp("ns", "UTC")),
            "log_offset": pa.array(columns[3], pa.int64()),
        }
        pq.write_table(pa.table(table), path)
    return root


def _views(home: Path, name: str) -> list[str]:
    (home / "views.toml").write_text(f'[{name}]\ndimensions = {{ a = "min" }}\n')
    return ["--views", str(home / "views.toml")]


def test_updates_come_back_byte_for_byte(
    tmp_path: Path, unique: str, broker: Broker, kafka: KafkaSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    late = [row for row in ROWS if row[3] < 20 and row[3] % 3 == 0]
    root = _archive(tmp_path, unique, ROWS[20:], [row for row in ROWS[:20] if row not in late], late)
    command = ["restore", *_views(tmp_path, unique), "--bootstrap", broker.address, "--archive", str(root), unique]
    assert main(command) == 0
    assert f"{unique}.updates: 40 updates restored from 3 files" in capsys.readouterr().out
    batches = list(everything(kafka, f"{unique}.updates"))
    read = [
        (records.key(row), records.value(row), int(records.timestamps[row]), int(records.offsets[row]))
        for records in batches
        for row in range(len(records))
    ]
    assert read == ROWS
    with pytest.raises(SkylineError, match=f"{unique}.updates is not empty"):
        main(command)


def test_the_largest_updates_come_back_too(tmp_path: Path, unique: str, broker: Broker, kafka: KafkaSettings) -> None:
    """One that just passes, and one that was rejected as too large: what follows it must keep its offset."""
    sizes = (MAX_VALUE_BYTES, 8 * MAX_VALUE_BYTES)
    rows: list[Row] = [(b"large", b"x" * size, 1, offset) for offset, size in enumerate(sizes)]
    root = _archive(tmp_path, unique, rows)
    command = ["restore", *_views(tmp_path, unique), "--bootstrap", broker.address, "--archive", str(root), unique]
    assert main(command) == 0
    read = [records.value(row) for records in everything(kafka, f"{unique}.updates") for row in range(len(records))]
    assert read == [value for _, value, _, _ in rows]


def test_an_event_time_that_cannot_be_sent_is_refused(tmp_path: Path, unique: str, broker: Broker) -> None:
    root = _archive(tmp_path, unique, [(b"k", None, 0, 0)])
    command = ["restore", *_views(tmp_path, unique), "--bootstrap", broker.address, "--archive", str(root), unique]
    with pytest.raises(SkylineError, match="event time 1970 or earlier"):
        main(command)


def test_an_archive_with_a_gap_is_refused(tmp_path: Path) -> None:
    root = _archive(tmp_path, "v", ROWS[:10], ROWS[12:])
    with pytest.raises(SkylineError, match="not whole: after offset 9 comes 12"):
        list(in_order(find_parts(root, "v")))


def test_an_archive_that_begins_late_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkylineError, match="not whole: after offset -1 comes 3"):
        list(in_order(find_parts(_archive(tmp_path, "v", ROWS[3:]), "v")))


def test_an_archive_without_updates_is_named(tmp_path: Path) -> None:
    with pytest.raises(SkylineError, match="holds no updates of view 'v': was it archived with --updates"):
        find_parts(tmp_path, "v")
