"""Sources that run inside a test must leave the process as they found it."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def contained() -> Iterator[None]:
    """Puts back the signal handlers and log handlers that a source's `main` replaces."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    root.handlers = []  # so that force=True closes none of pytest's
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    root.handlers = before
    root.setLevel(level)
