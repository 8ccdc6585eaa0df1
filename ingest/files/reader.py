"""What every file format offers: batches of updates from some row on, and how far it has come."""

from __future__ import annotations

import gzip
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from ingest.batch import Batch
from ingest.check import wall_clock
from ingest.files.layout import Layout
from skyline.errors import InvalidInput


class Reader(ABC):
    """One open file. `now` gives the event time of rows that have none of their own."""

    def __init__(self, path: Path, layout: Layout, now: Callable[[], int] = wall_clock) -> None:
        self.path, self.layout, self.now = path, layout, now
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
