"""Processes of a stack: how they are started, quoted and ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.local.place import local_place
from deploy.local.running import ServiceEnded, start_all
from deploy.local.services import SERVICES, Service
from deploy.local.stack import Stack
from tests.deploy.processes import wait_until


def _service(name: str) -> Service:
    return next(service for service in SERVICES if service.name == name)


def test_a_service_that_ends_by_itself_is_quoted(tmp_path: Path) -> None:
    """A view that the market does not fit: it ends before it asks for a broker."""
    views = tmp_path / "views.toml"
    views.write_text('[spot]\ndimensions = { speed = "max" }\n')
    chosen = [_service("market")]
    stack = Stack(lambda _name, _line: None)
    try:
        with pytest.raises(ServiceEnded, match=r"market ended with code 1; its last lines:\n  error: .*spot.*speed"):
            start_all(stack, local_place("127.0.0.1:1", views, tmp_path, chosen, any_port=True), chosen)
    finally:
        stack.stop_all()


def test_a_child_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    """It ignores SIGTERM; the stack ends all the same, and its lines have been seen."""
    lines: list[tuple[str, str]] = []
    program = tmp_path / "deaf.py"
    program.write_text("import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint('deaf')\ntime.sleep(600)\n")
    stack = Stack(lambda name, line: lines.append((name, line)))
    stack.start("deaf", ["deaf"], {"PYTHONPATH": str(tmp_path)})
    wait_until(lambda: lines == [("deaf", "deaf")])
    assert stack.ended() is None
    assert stack.stop("deaf") == -9
    assert stack.said("deaf") == ["deaf"]
    stack.stop_all()


def test_the_table_has_no_port_and_no_name_twice() -> None:
    ports = [service.port for service in SERVICES if service.port is not None]
    assert len(set(ports)) == len(ports)
    assert len({service.name for service in SERVICES}) == len(SERVICES)
