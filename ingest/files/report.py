"""What a run tells people: refused rows as they come, a progress bar on a terminal, a summary at the end."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections import Counter
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from typing import Final

import orjson
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from ingest.check import Refused
from skyline.errors import InvalidInput
from skyline.runtime.metrics import Metrics

SOURCE: Final = "file"
SHOWN: Final = 20
"""Refused rows that are shown in full; the rest are counted."""


class Report:
    """Counts and shows the refused rows of one run, over all of its files."""

    def __init__(self, view: str, metrics: Metrics, rejects: Path | None = None) -> None:
        """`rejects`: a JSON Lines file to which every refused row is appended."""
        self._view, self._metrics = view, metrics
        self.sent = 0
        self.refused: Counter[str] = Counter()
        self._started = time.monotonic()
        self._stack = ExitStack()
        try:
            self._rejects = self._stack.enter_context(rejects.open("ab", buffering=0)) if rejects else None
        except OSError as error:
            raise InvalidInput(f"--rejects {rejects} cannot be written: {error.strerror}") from None

    def count(self, sent: int) -> None:
        """So many more were acknowledged."""
        self.sent += sent
        self._metrics.sent.labels(self._view, SOURCE).inc(sent)

    def refuse(self, file: Path, refused: list[Refused]) -> None:
        """Shows and counts them; above the progress bar, which has taken the place of sys.stderr where there is one."""
        for row in refused:
            count = self.refused.total()
            self.refused[row.why.reason] += 1
            self._metrics.refused.labels(self._view, SOURCE, row.why.reason).inc()
            if count < SHOWN:
                print(f"{file}:{row.place}: {row.why.reason}: {row.why.message}", file=sys.stderr)
            elif count == SHOWN:
                print("more refused rows are counted below, --rejects FILE writes them all", file=sys.stderr)
        if self._rejects is not None and refused:
            self._keep(self._rejects, file, refused)

    def _keep(self, rejects: FileIO, file: Path, refused: list[Refused]) -> None:
        """Written before the run remembers that it is past these rows."""
        lines = b"".join(_line(file, row) for row in refused)
        try:
            if rejects.write(lines) < len(lines):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise InvalidInput(f"--rejects {rejects.name} cannot be written: {error.strerror}") from None

    def summary(self, topic: str, note: str = "") -> str:
        """One line: what was sent and refused, in which time."""
        seconds = time.monotonic() - self._started
        line = f"sent {self.sent:,} updates to {topic} in {seconds:.1f} s ({self.sent / max(seconds, 1e-3):,.0f}/s)"
        if self.refused:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in self.refused.most_common())
            line += f"; refused {self.refused.total():,}: {reasons}"
        return f"{line}; {note}" if note else line

    def close(self) -> None:
        self._stack.close()


def progress_bar() -> Progress:
    """A bar per file with rows sent, on a terminal; silent elsewhere."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )


def _line(file: Path, row: Refused) -> bytes:
    fields = {
        "file": str(file),
        "line": row.place,
        "reason": row.why.reason,
        "message": row.why.message,
        "key": None if row.key is None else row.key.decode(errors="replace"),
        "value": None if row.value is None else row.value.decode(errors="replace"),
    }
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
