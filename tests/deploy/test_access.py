"""Every service does its work with the rights that docs/operations.md gives it, and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from confluent_kafka import Consumer, Producer

from deploy.local.broker import Broker
from deploy.local.place import local_place
from deploy.local.running import start_all
from deploy.local.services import Place, Service, services
from deploy.local.stack import Stack
from ingest.files.tail import written_since
from skyline.runtime.config import KafkaSettings
from tests.deploy.guarded import credentials, documented, grant, guarded_broker
from tests.deploy.monitoring import VIEW
from tests.deploy.processes import ROOT, wait_until

RIGHTS = documented()
VIEW_NAME = "guarded"

pytestmark = pytest.mark.kafka


def _variables(user: str) -> dict[str, str]:
    return {f"KAFKA_{name.upper().replace('.', '_')}": value for name, value in credentials(user).items()}


class Guarded:
    """A stack on that broker, each service with its own name and password."""

    def __init__(self, broker: Broker, address: str, home: Path) -> None:
        self.broker, self.address, self.home = broker, address, home
        self.views = home / "views.toml"
        self.views.write_text(VIEW.format(name=VIEW_NAME))
        told = {"market": {"VIEW": VIEW_NAME}}
        self.services = {
            service.name: replace(
                service, settings={**service.settings, **told.get(service.name, {}), **_variables(service.name)}
            )
            for service in services("core", "standby", "demo")
        }
        self.place: Place = local_place(address, self.views, home, self.services.values(), any_port=True)
        self.stack = Stack(lambda _name, _line: None)

    def start(self, *names: str) -> None:
        chosen: list[Service] = [self.services[name] for name in names]
        start_all(self.stack, self.place, chosen)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.services[name].port_at(self.place)}"

    def run(self, user: str, *command: str) -> str:
        """Runs a command as this user until it ends well."""
        environment = {f"SKYLINE_{name}": value for name, value in _variables(user).items()}
        result = subprocess.run(
            [sys.executable, "-m", *command, "--bootstrap", self.address, "--views", str(self.views)],
            capture_output=True, text=True, check=False, cwd=self.home,
            env={**_clean(), **environment, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        return result.stdout


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("SKYLINE_KAFKA_")}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    home = tmp_path_factory.mktemp("guarded")
    with guarded_broker(home / "kafka", sorted(RIGHTS)) as (broker, address):
        for user, rights in RIGHTS.items():
            grant(broker, user, rights, VIEW_NAME)
        stack = Guarded(broker, address, home)
        try:
            stack.run("operator", "deploy.cli", "topics")
            stack.start("maintainer", "standby", "ingest", "ticker", "market", "query")
            yield stack
        finally:
            stack.stack.stop_all()


def _json(url: str | Request) -> dict[str, object]:
    with urlopen(url, timeout=30) as answer:
        found: dict[str, object] = json.loads(answer.read())
        return found


def test_an_update_becomes_an_answer(guarded: Guarded) -> None:
    """Through ingest, maintainer (two transactional ids) and query, beside market and ticker."""
    offer = {"price": 0.001, "interruptions": 0, "vcpus": 9999, "region": "eu-west", "instance": "m7", "zone": "a"}
    document = json.dumps({"key": "mine", "value": offer}).encode()
    sent = Request(f"{guarded.url('ingest')}/views/{VIEW_NAME}/updates", document, {"Content-Type": "application/json"})
    offsets = _json(sent)["offsets"]
    assert isinstance(offsets, list)
    found = _json(f"{guarded.url('query')}/views/{VIEW_NAME}/objects/mine?min_offset={offsets[0]}")
    assert found["member"] is True
    _wait_for_change(guarded, "mine")


def _wait_for_change(guarded: Guarded, key: str) -> None:
    """A subscriber reads the changes until this object enters."""
    settings = {"bootstrap.servers": guarded.address, "group.id": "their-own", "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "isolation.level": "read_committed", **credentials("subscriber")})
    consumer.subscribe([f"{VIEW_NAME}.changes"])
    try:
        wait_until(lambda: _entered(consumer, key))
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()


def _entered(consumer: Consumer, key: str) -> bool:
    message = consumer.poll(1.0)
    if message is None:
        return False
    assert message.error() is None, message.error()
    return bool(message.key() == key.encode())


def test_the_standby_may_take_over(guarded: Guarded) -> None:
    guarded.stack.stop("maintainer")
    wait_until(lambda: b'skyline_active{view="guarded"} 1.0' in _page(f"{guarded.url('standby')}/metrics"))
    guarded.start("maintainer")


def _page(url: str) -> bytes:
    with urlopen(url, timeout=30) as answer:
        content: bytes = answer.read()
        return content


def test_files_are_sent_and_compared_with_what_is_written(guarded: Guarded) -> None:
    """The comparison is what a run that was killed makes of the topic when it goes on."""
    rows = guarded.home / "rows.jsonl"
    row = {"key": "filed", "price": 1, "interruptions": 1, "vcpus": 1, "region": "x", "instance": "m7", "zone": "a"}
    rows.write_text(json.dumps(row) + "\n")
    guarded.run("files", "ingest", "file", str(rows), "--state", str(guarded.home / "sent"))
    kafka = KafkaSettings(guarded.address, credentials("files"))
    assert b"filed" in {key for _, (key, _, _) in written_since(kafka, f"{VIEW_NAME}.updates", 0)}


@pytest.mark.spark
def test_jobs_archive_and_audit(guarded: Guarded) -> None:
    archived = guarded.run("archive", "spark_jobs.archive", "--root", str(guarded.home / "archive"), "--updates")
    assert f"{VIEW_NAME}.updates: " in archived
    guarded.run("audit", "spark_jobs.audit", "--view", VIEW_NAME)


@pytest.mark.parametrize("user", ["ingest", "subscriber", "archive"])
def test_who_may_not_write_changes_cannot(guarded: Guarded, user: str) -> None:
    """The rights are judged at all."""
    failed: list[object] = []
    producer = Producer({"bootstrap.servers": guarded.address, **credentials(user)})
    producer.produce(f"{VIEW_NAME}.changes", b"forged", on_delivery=lambda error, _message: failed.append(error))
    producer.flush(30)
    assert [getattr(error, "name", str)() for error in failed] == ["TOPIC_AUTHORIZATION_FAILED"]
