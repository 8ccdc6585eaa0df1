"""`skyline demo` as a user runs it: it checks itself, and leaves nothing behind."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil
import pytest

from deploy.cli import demo
from deploy.cli.verify import Verdict
from tests.deploy.processes import command_of, descendants, end, skyline, wait_until

PROMISE = 5.0
"""Seconds after which Ctrl-C has ended every process: what the README promises."""


def test_the_demo_ends_by_itself_and_checks_the_skyline(tmp_path: Path) -> None:
    running = skyline("demo", "--seconds", "4", TMPDIR=str(tmp_path))
    output, _ = running.communicate(timeout=300)
    assert running.returncode == 0, output
    assert "members, equal to the skyline recomputed from all" in output
    assert "interruptions ↓" in output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sent", "again", "moment", "seconds", "code"),
    [
        (signal.SIGINT, signal.SIGTERM, "while Kafka starts", 600, 130),  # nothing was checked
        (signal.SIGTERM, signal.SIGINT, "while it shows the skyline", 0, 0),
    ],
)
def test_a_signal_ends_every_process_in_time(
    sent: signal.Signals, again: signal.Signals, moment: str, seconds: int, code: int, tmp_path: Path
) -> None:
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm"}  # a live table, as in a terminal
    running = skyline("demo", "--seconds", str(seconds), TMPDIR=str(tmp_path), **terminal)
    try:
        if moment == "while Kafka starts":
            wait_until(lambda: any("kafka.Kafka" in command_of(child) for child in descendants(running.pid)))
        else:
            assert running.stdout is not None
            for line in running.stdout:
                if "Ctrl-C ends the demo" in line:
                    break
        started = descendants(running.pid)
        running.send_signal(sent)
        # under `timeout 60 make demo` the group gets it, and make passes it on; two of a kind may be one to the kernel
        running.send_signal(again)
        output, _ = running.communicate(timeout=PROMISE)
    finally:
        end(running)
    assert running.returncode == code, output
    assert started
    assert not [child for child in started if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_skyline_fails_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    verdict = Verdict(updates=5, objects=3, members=2, wrong=["a"], missing=["b"])
    assert demo._report(Console(), verdict) == 1
    assert "WRONG: published but not in the skyline ['a'], missing ['b']" in capsys.readouterr().out
