"""Several processes as one: started together, one log view, ended together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Final

from deploy.local.broker import die_with_parent
from deploy.local.cache import numba_dir

STOP_SECONDS: Final = 3.0
"""Everything ends within 5 seconds of Ctrl-C: what has not after 3 is killed, and 2 are left for the broker."""

_KEPT: Final = 10

Sink = Callable[[str, str], None]


class Stack:
    """Child processes of this one; their lines go to `sink(name, line)`. Children die with their parent."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._children: dict[str, subprocess.Popen[str]] = {}
        self._readers: dict[str, threading.Thread] = {}
        self._said: dict[str, deque[str]] = {}

    def start(self, name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        """Runs `python -m arguments` with these variables on top of this process's own."""
        child = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={
                "NUMBA_CACHE_DIR": str(numba_dir()),
                **os.environ,
                **environment,
                "PYTHONUNBUFFERED": "1",
            },
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        self._children[name] = child
        assert child.stdout is not None
        reader = threading.Thread(target=self._read, args=(name, child.stdout), daemon=True)
        self._said[name], self._readers[name] = deque(maxlen=_KEPT), reader
        reader.start()

    def pid(self, name: str) -> int:
        """Process id of a child."""
        return self._children[name].pid

    def stop(self, name: str) -> int:
        """Ends one child in good order and gives its exit code."""
        child = self._children.pop(name)
        _end([child])
        return child.returncode

    def ended(self) -> tuple[str, int] | None:
        """A child that has ended by itself, and its exit code."""
        for name, child in self._children.items():
            if child.poll() is not None:
                return name, child.returncode
        return None

    def stop_all(self) -> None:
        """Ends every child in good order, all at once."""
        _end(list(self._children.values()))
        self._forget()

    def kill_all(self) -> None:
        """Ends every child at once, as a crash would."""
        for child in self._children.values():
            child.kill()
        for child in self._children.values():
            child.wait()
        self._forget()

    def _forget(self) -> None:
        self._children.clear()
        for reader in self._readers.values():
            reader.join(1.0)

    def said(self, name: str) -> list[str]:
        """The last lines of a child, whether it still runs or not."""
        child = self._children.get(name)
        if child is None or child.poll() is not None:
            self._readers[name].join(1.0)  # what it said last may still be in the pipe
        return list(self._said[name])

    def _read(self, name: str, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                self._said[name].append(line.rstrip("\n"))
                self._sink(name, line.rstrip("\n"))


def _end(children: list[subprocess.Popen[str]]) -> None:
    for child in children:
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        try:
            child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
