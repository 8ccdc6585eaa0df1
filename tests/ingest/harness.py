"""What the tests of ingest share: view files, sources as processes, and what stands in a topic."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

from deploy.local.broker import die_with_parent
from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import Drain
from skyline.view import View

HOTELS: dict[str, Any] = {
    "dimensions": {"price": "min", "rating": "max"},
    "group_by": ["city"],
    "carry": ["name"],
}
WINDOW: dict[str, Any] = {"dimensions": {"price": "min", "volume": "max"}, "window": {"size": 100}}
Row = tuple[bytes | None, bytes | None, int]
SLOWLY = ["--kafka", "queue.buffering.max.messages=1000", "--kafka", "linger.ms=20"]
"""Flags that keep a source from sending more than 50,000 updates a second, so that a test can meet it at work."""


def view_of(name: str, **table: Any) -> View:
    """A view of hotels, unless told otherwise."""
    return View.of(name, {**HOTELS, **table})


def views_file(directory: Path, **tables: dict[str, Any]) -> Path:
    """A views.toml with these views."""
    lines: list[str] = []
    for name, table in tables.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {_toml(value)}" for key, value in table.items()]
    path = directory / "views.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{orjson.dumps(k).decode()} = {_toml(v)}" for k, v in value.items()) + " }"
    return orjson.dumps(value).decode()


class Source:
    """`python -m ingest ...` as a process; what it says is in `text`."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        self.log = directory / f"source-{time.monotonic_ns()}.log"
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ingest", *arguments],
                stdout=log, stderr=log, env=environment, preexec_fn=die_with_parent,
            )  # fmt: skip

    @property
    def text(self) -> str:
        return self.log.read_text()

    def end(self, seconds: float = 60.0) -> int:
        """Waits for it to end by itself."""
        return self.process.wait(seconds)

    def stop(self, seconds: float = 30.0) -> int:
        """Sends SIGTERM and waits."""
        self.process.terminate()
        return self.process.wait(seconds)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)


def eventually(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Waits for a condition; says what it waited for if it never came."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def records(kafka: KafkaSettings, topic: str, start: int = 0) -> list[Row]:
    """(key, value, timestamp) of every record from offset `start` on."""
    settings = kafka.client(group_id="ingest-tests", enable_partition_eof=True)
    rows: list[Row] = []
    with Drain(settings, topic, 0, start) as drain:
        while not drain.at_end:
            batch = drain.poll(1.0)
            rows += [(batch.key(i), batch.value(i), int(batch.timestamps[i])) for i in range(len(batch))]
    return rows


def objects(rows: Sequence[Row]) -> list[tuple[str | None, Any]]:
    """(key, fields) of records; None for a null value."""
    return [
        (None if key is None else key.decode(), None if value is None else orjson.loads(value))
        for key, value, _ in rows
    ]
