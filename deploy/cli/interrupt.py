"""Ctrl-C and SIGTERM as an exception, for commands that start processes: wherever it strikes, `finally` cleans up."""

from __future__ import annotations

import os
import signal
import time
from types import FrameType, TracebackType
from typing import Any, Final

_ONE_REQUEST: Final = 1.0
"""Seconds in which signals are one request: what `make` or `timeout` passes on, the terminal's group gets as well."""


class UntilInterrupted:
    """Runs a block until it ends, or until SIGINT or SIGTERM ends it early, without an error.

    A second request ends the process at once; what it started with `die_with_parent` ends with it.
    """

    def __enter__(self) -> None:
        self._asked: float | None = None
        self._before: dict[int, Any] = {
            number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)
        }

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        return kind is KeyboardInterrupt

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._asked is None:
            self._asked = now
            raise KeyboardInterrupt
        if now - self._asked > _ONE_REQUEST:
            os._exit(128 + number)
