"""Waiting for conditions, and commands run as a user runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

_SECONDS = 60.0
ROOT = Path(__file__).parent.parent.parent


def wait_until(condition: Callable[[], object], seconds: float = _SECONDS) -> None:
    """Returns once the condition holds; fails when it does not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.05)


def skyline(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
    """The `skyline` command in a session of its own, its output in a pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "deploy.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "COLUMNS": "120", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def descendants(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def command_of(process: psutil.Process) -> list[str]:
    """Its command line; nothing for one that has ended meanwhile."""
    try:
        words: list[str] = process.cmdline()
    except psutil.Error:
        return []
    return words


def end(running: subprocess.Popen[str]) -> None:
    """Ends a command that a test has started, however the test went."""
    running.kill()
    running.wait()
    if running.stdout is not None:
        running.stdout.close()
