"""How a service starts and ends: logs in one format, a stop flag that signals set, one line for a fatal error."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType

from skyline.errors import InvalidInput, SkylineError

LOG_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def set_up_logging(level: str) -> None:
    if level.upper() not in LOG_LEVELS:
        raise InvalidInput(f"--log-level must be one of {', '.join(LOG_LEVELS)}, got {level!r}")
    logging.getLogger("numba").setLevel("WARNING")  # it would tell every instruction it compiles
    logging.basicConfig(level=level.upper(), format=LOG_FORMAT, stream=sys.stderr, force=True)


def stop_on_signals() -> threading.Event:
    """An event that SIGTERM and SIGINT set. A second signal ends the process at once."""
    stop = threading.Event()

    def handle(number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    signal.signal(signal.SIGTERM, handle)
    signal.signal(signal.SIGINT, handle)
    return stop


def run(main: Callable[[Sequence[str]], int], argv: Sequence[str] | None = None) -> None:
    """Runs a command; errors of ours become one line on stderr and exit code 1."""
    try:
        code = main(sys.argv[1:] if argv is None else argv)
    except SkylineError as error:
        print(f"error: {error}", file=sys.stderr)
        code = 1
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
