"""How far a file has been sent, remembered between runs: one small JSON file per view and file.

A row counts as sent when the broker has acknowledged it and every row before it. The file is identified by its path
and its first bytes, so that one that has grown goes on where it ended and one that was replaced is noticed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import orjson

from skyline.errors import InvalidInput

_HEAD: Final = 1 << 16
"""Bytes that identify a file."""


@dataclass(frozen=True)
class Progress:
    """`rows` of the file are sent; the next ones, as far as they are sent, lie at `offset` or later in the topic."""

    file: str
    topic: str
    layout: str
    head_bytes: int
    head_sha256: str
    rows: int
    offset: int


class ProgressFile:
    """The progress of one file into one topic, on disk."""

    def __init__(self, directory: Path, source: Path, topic: str, layout: str) -> None:
        self._source, self._topic, self._layout = source, topic, layout
        name = hashlib.sha256(f"{topic}\0{source.resolve()}".encode()).hexdigest()[:16]
        self.path = directory / f"{source.name}-{name}.json"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Only one run sends a file to a topic at a time: two would write its rows twice."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = self.path.with_suffix(".lock").open("wb")
        except OSError as error:
            raise self._unkept(error) from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InvalidInput(f"{self._source} is being sent to {self._topic} by another run") from None
            yield

    def load(self) -> Progress | None:
        """What an earlier run has saved, or None. Raises InvalidInput when it speaks of another file or layout."""
        try:
            progress = Progress(**orjson.loads(self.path.read_bytes()))
        except FileNotFoundError:
            return None
        except (orjson.JSONDecodeError, TypeError) as error:
            raise InvalidInput(f"{self.path} is damaged ({error}): remove it, or say --restart") from None
        if _head(self._source, progress.head_bytes) != (progress.head_bytes, progress.head_sha256):
            raise InvalidInput(
                f"{self._source} is not the file that an earlier run sent {progress.rows:,} rows of: it begins "
                f"differently; --restart sends it from its first row"
            )
        if progress.layout != self._layout:
            raise InvalidInput(
                f"an earlier run sent {progress.rows:,} rows of {self._source} with other columns (--key, --map, "
                f"--time, --delete, --json); give the same ones to go on, or --restart to begin anew"
            )
        return progress

    def save(self, rows: int, offset: int) -> None:
        """Replaces what was saved, so that a crash leaves the old or the new."""
        head_bytes, digest = _head(self._source, _HEAD)
        progress = Progress(str(self._source), self._topic, self._layout, head_bytes, digest, rows, offset)
        try:
            draft = self.path.with_suffix(f".{os.getpid()}.tmp")
            draft.write_bytes(orjson.dumps(asdict(progress), option=orjson.OPT_INDENT_2))
            draft.replace(self.path)
        except OSError as error:
            raise self._unkept(error) from None

    def _unkept(self, error: OSError) -> InvalidInput:
        return InvalidInput(f"progress cannot be kept in {self.path.parent} (--state): {error.strerror}")


def _head(path: Path, length: int) -> tuple[int, str]:
    with path.open("rb") as file:
        head = file.read(length)
    return len(head), hashlib.sha256(head).hexdigest()
