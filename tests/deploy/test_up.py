"""`skyline up` as a user runs it: everything of the table answers, and Ctrl-C ends it all."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil

from deploy.local.broker import Broker
from deploy.local.services import services
from tests.deploy.processes import ROOT, descendants, end, skyline
from tests.packages import program

PROMISE = 5.0


def test_the_whole_stack_comes_up_and_goes_down(tmp_path: Path) -> None:
    running = skyline("up", "--any-port", "--demo", "--views", str(ROOT / "views.toml"), cwd=tmp_path)
    try:
        assert running.stdout is not None
        lines = []
        for line in running.stdout:
            lines.append(line)
            if "prometheus --config.file=" in line:
                break
        said = "".join(lines)
        assert re.search(r"ready +page and API at http://127\.0\.0\.1:\d+", said), said
        _check_prometheus(tmp_path / said.rpartition("--config.file=")[2].strip())
        looked = skyline("members", "--json", "--views", str(ROOT / "views.toml"), "spot", cwd=tmp_path)
        members, _ = looked.communicate(timeout=120)
        assert looked.returncode == 0, members
        points = [json.loads(line)["point"] for line in members.splitlines()]
        assert all(point.keys() == {"price", "interruptions", "vcpus"} for point in points)
        started = descendants(running.pid)
        running.send_signal(signal.SIGTERM)
        output, _ = running.communicate(timeout=PROMISE)
    finally:
        end(running)
    assert running.returncode == 0, output
    assert len(started) >= len(services("core", "demo")) + 1
    assert not [child for child in started if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert Broker(tmp_path / ".local" / "kafka").pid() is None


def _check_prometheus(config: Path) -> None:
    """The configuration that was written is one, and names every service that has a port."""
    checked = subprocess.run([program("promtool"), "check", "config", config], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stdout
    targets = json.loads((config.parent / "targets" / "local.json").read_text())
    named = {target["labels"]["service"] for target in targets}
    assert named == {service.name for service in services("core", "demo") if service.port is not None}


def test_a_port_in_use_is_said_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # somebody else may have it: just as well
            taken.bind(("127.0.0.1", 9101))
            taken.listen()
        running = skyline("up", "--home", str(tmp_path / "home"))
        output, _ = running.communicate(timeout=120)
    assert running.returncode == 1
    assert output.startswith("error: port ")
    assert "is in use: is a stack up? See --any-port" in output
    assert not (tmp_path / "home" / "kafka" / "data").exists()


def test_a_mistake_in_the_views_is_said_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "views.toml").write_text('[a]\ndimensions = { price = "least" }\n')
    running = skyline("up", cwd=tmp_path)
    output, _ = running.communicate(timeout=120)
    assert running.returncode == 1
    assert output.startswith("error: views.toml: ")
    assert not (tmp_path / ".local").exists()
