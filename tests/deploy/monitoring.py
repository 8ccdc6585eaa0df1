"""A whole stack under load, watched by a real Prometheus: what tests ask it."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from confluent_kafka import Producer

from deploy.images.probe import answers
from deploy.local.place import local_place, write_prometheus
from deploy.local.ports import free_port
from deploy.local.running import start_all
from deploy.local.services import Place, Service, services
from deploy.local.stack import Stack
from tests.deploy.processes import wait_until
from tests.packages import program

VIEW = """\
[{name}]
dimensions = {{ price = "min", interruptions = "min", vcpus = "max" }}
group_by = ["region"]
carry = ["instance", "zone"]
"""

BUSY: Final = (412, 429, 503)
"""Answers of services that are behind, or have too much to do: not reached in time, too many requests, unavailable."""


class Monitored:
    """The services, and the Prometheus that scrapes them every second and judges every second."""

    def __init__(self, bootstrap: str, view: str, home: Path) -> None:
        self.view, self._bootstrap = view, bootstrap
        views = home / "views.toml"
        views.write_text(VIEW.format(name=view))
        self._chosen = [_hastened(service, view) for service in services("core", "standby", "demo", "archive")]
        self._place: Place = local_place(bootstrap, views, home, self._chosen, any_port=True)
        self._stack = Stack(lambda _name, _line: None)
        self._config = write_prometheus(home / "prometheus", self._place, self._chosen)
        _hasten(home / "prometheus")
        self._port = free_port()
        self._stop = threading.Event()
        self._silent = threading.Event()

    def url(self, name: str) -> str:
        """Where a service listens."""
        service = next(service for service in self._chosen if service.name == name)
        return f"http://127.0.0.1:{service.port_at(self._place)}"

    def start(self, name: str) -> None:
        """Starts one service, and waits until it is ready."""
        start_all(self._stack, self._place, [service for service in self._chosen if service.name == name])

    def stop(self, name: str) -> None:
        self._stack.stop(name)

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Nothing is sent, not even the time."""
        self._silent.set()
        for name in ("market", "ticker"):
            self.stop(name)
        yield
        for name in ("market", "ticker"):
            self.start(name)
        self._silent.clear()

    def ask(self, expression: str) -> list[Any]:
        """Prometheus's answer: a list of series with their values."""
        answer = _get(f"http://127.0.0.1:{self._port}/api/v1/query?{urlencode({'query': expression})}")
        assert answer["status"] == "success"
        result: list[Any] = answer["data"]["result"]
        return result

    def alerts(self) -> dict[str, str]:
        """Name -> state (pending or firing) of the alerts that are not quiet."""
        answer = _get(f"http://127.0.0.1:{self._port}/api/v1/alerts")
        return {alert["labels"]["alertname"]: alert["state"] for alert in answer["data"]["alerts"]}

    @contextmanager
    def running(self) -> Iterator[Monitored]:
        load = threading.Thread(target=self._load)
        prometheus = None
        try:
            start_all(self._stack, self._place, self._chosen)
            load.start()
            prometheus = self._prometheus()
            wait_until(lambda: answers(f"http://127.0.0.1:{self._port}/-/ready"))
            yield self
        finally:
            self._stop.set()
            if load.ident is not None:
                load.join()
            if prometheus is not None:
                prometheus.terminate()
                prometheus.wait(30)
            self._stack.stop_all()

    def _prometheus(self) -> subprocess.Popen[bytes]:
        log = (self._config.parent / "log").open("wb")
        with log:
            return subprocess.Popen(
                [
                    program("prometheus"),
                    f"--config.file={self._config}",
                    f"--storage.tsdb.path={self._config.parent / 'data'}",
                    f"--web.listen-address=127.0.0.1:{self._port}",
                ],
                stdout=log,
                stderr=log,
            )

    def _load(self) -> None:
        """A bit of everything: updates over HTTP, questions, and records that must be rejected."""
        producer = Producer({"bootstrap.servers": self._bootstrap})
        offer = {"price": 1, "interruptions": 1, "vcpus": 1, "region": "eu-west", "instance": "m7", "zone": "a"}
        while not self._stop.wait(0.2):
            if self._silent.is_set():
                continue
            producer.produce(f"{self.view}.updates", b"no JSON", b"bad")
            producer.flush(30)
            with _patience():
                written = _post(f"{self.url('ingest')}/views/{self.view}/updates", {"key": "mine", "value": offer})
                seen = f"min_offset={written['offsets'][0]}"  # or the object might not be there yet
                for path in ("", f"/skyline?{seen}", f"/objects/mine?{seen}"):
                    _get(f"{self.url('query')}/views/{self.view}{path}")


def _hastened(service: Service, view: str) -> Service:
    """Settings that let a test see within seconds what takes minutes otherwise."""
    own = {"maintainer": {"CHECKPOINT_SECONDS": "2"}, "standby": {"CHECKPOINT_SECONDS": "2"}, "market": {"VIEW": view}}
    command = ("tests.deploy.archiving",) if service.name == "archive" else service.command
    return replace(service, command=command, settings={**service.settings, **own.get(service.name, {})})


def _hasten(home: Path) -> None:
    """The same configuration and rules, with seconds for minutes where something waits."""
    config = home / "prometheus.yml"
    config.write_text(re.sub(r"(_interval|_timeout): \d+s", r"\1: 1s", config.read_text()))
    for rules in (home / "rules").iterdir():
        text = re.sub(r"^( +interval): \d+s", r"\1: 1s", rules.read_text(), flags=re.MULTILINE)
        text = re.sub(r"^( +for): \d+m", r"\1: 2s", text, flags=re.MULTILINE)
        rules.write_text(text.replace("event_lag_seconds:current > 60", "event_lag_seconds:current > 5"))


@contextmanager
def _patience() -> Iterator[None]:
    """A client that is told to come back later does so. Everything else ends the load, and with it the test."""
    try:
        yield
    except HTTPError as error:
        if error.code not in BUSY:
            raise


def _get(url: str | Request) -> Any:
    with urlopen(url, timeout=30) as answer:
        return json.loads(answer.read())


def _post(url: str, document: object) -> Any:
    return _get(Request(url, json.dumps(document).encode(), {"Content-Type": "application/json"}))
