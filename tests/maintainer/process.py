"""A maintainer as a process that tests start, pause and kill.

Processes are forked from a server that has everything imported and compiled already: a restart takes a tenth of a
second instead of several, so a test can afford many.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

from deploy.local.broker import die_with_parent
from skyline.runtime.config import KafkaSettings
from tests.maintainer.crashing import arm

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.maintainer.preload"])


def _live(arguments: list[str], log: Path, trap: tuple[str, int, signal.Signals] | None) -> None:
    """What the process does: everything that it prints goes to `log`."""
    from maintainer.__main__ import main
    from skyline.runtime.process import run

    die_with_parent()
    with log.open("ab") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    if trap is not None:
        arm(*trap)
    run(main, arguments)


def eventually(condition: Callable[[], bool], what: str, seconds: float = 90.0) -> None:
    """Waits for a condition; says what it waited for if it never came."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


class Maintainer:
    """A maintainer process. `trap` is where it signals itself: point, count, signal."""

    def __init__(
        self,
        kafka: KafkaSettings,
        views: Path,
        state: Path,
        *more: str,
        trap: tuple[str, int, signal.Signals] | None = None,
    ) -> None:
        self.log = state.parent / f"maintainer-{time.monotonic_ns()}.log"
        arguments = [
            "--bootstrap", kafka.bootstrap, "--views", str(views), "--state", str(state), "--metrics-port", "0",
            "--session-timeout-ms", "1000", "--checkpoint-seconds", "0.3", *more,
        ]  # fmt: skip
        self._process: BaseProcess = _context.Process(target=_live, args=(arguments, self.log, trap))
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def ended(self) -> int | None:
        """Exit code, minus the signal that ended it, or None while it runs."""
        return self._process.exitcode

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it now. No error if it has ended already."""
        if self.ended() is None:
            self.signal(signal.SIGKILL)
        self.wait_end()

    def stop(self) -> int:
        """Asks it to end in good order and gives its exit code."""
        self.signal(signal.SIGTERM)
        return self.wait_end()

    def wait_end(self, seconds: float = 60.0) -> int:
        self._process.join(seconds)
        code = self.ended()
        assert code is not None, f"still runs after {seconds} s: {self.text()[-2000:]}"
        return code

    def is_stopped(self) -> bool:
        """Whether SIGSTOP has taken effect."""
        return Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"

    def text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def until(self, condition: Callable[[], bool], what: str, seconds: float = 90.0) -> None:
        """Waits for a condition that this process brings about."""

        def holds() -> bool:
            assert self.ended() is None, f"ended with {self.ended()}: {self.text()[-2000:]}"
            return condition()

        eventually(holds, f"{what}: {self.text()[-1000:]}", seconds)

    def __enter__(self) -> Maintainer:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.kill()
        self._process.close()
