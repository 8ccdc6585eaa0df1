"""What every file format offers: batches of updates from some row on, and how far it has come."""

from __future__ import annotations

import gzip
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, TypeVar, cast

from ingest.batch import ROWS, Batch
from ingest.check import wall_clock
from ingest.files.layout import Layout
from skyline.errors import InvalidInput

CHUNK_BYTES: Final = 16 << 20
"""Bytes of a file from which on a batch has fewer than ROWS rows: what is held should not grow with the rows."""

FEW: Final = 50
"""Rows between two looks at how many bytes were read."""

Part = TypeVar("Part")


def in_chunks(parts: Iterator[Part], stream: BinaryIO) -> Iterator[list[Part]]:
    """Parts of FEW rows that are read from a stream, as many together as make a batch."""
    chunk: list[Part] = []
    past = stream.tell() + CHUNK_BYTES
    for part in parts:
        chunk.append(part)
        if len(chunk) >= ROWS // FEW or stream.tell() >= past:
            yield chunk
            chunk, past = [], stream.tell() + CHUNK_BYTES
    if chunk:
        yield chunk


class Reader(ABC):
    """One open file. `now` gives the event time of rows that have none of their own."""

    def __init__(self, path: Path, layout: Layout, now: Callable[[], int] = wall_clock) -> None:
        self.path, self.layout, self.now = path, layout, now
        if path.is_fifo() or path.is_char_device():
            raise InvalidInput(f"{path} can be read only once, and a run reads a file's beginning again: save it first")
        try:
            self._raw = path.open("rb")
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
        self.total = path.stat().st_size
        """Length of the way, in the units of `position`."""
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _begin(self) -> None:
        """Reads and checks what comes before the first row."""

    @abstractmethod
    def batches(self, skip: int) -> Iterator[Batch]:
        """All rows after the first `skip`, in order. Rows that cannot be read are problems of their batch."""

    def position(self) -> int:
        """How much of the file has been read, in bytes."""
        return self._raw.tell()

    def stream(self) -> BinaryIO:
        """The file's bytes, unpacked where its name says .gz."""
        return cast(BinaryIO, gzip.GzipFile(fileobj=self._raw)) if self.path.suffix == ".gz" else self._raw

    def close(self) -> None:
        self._raw.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
