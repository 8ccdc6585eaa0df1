"""A broker that asks who one is: every client of the maintainer says so, and a wrong password is told as what it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local import broker_config
from deploy.local.broker import Broker
from deploy.local.ports import free_port
from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from tests.maintainer.harness import check_published, committed, publish, updates, view_file
from tests.maintainer.process import Maintainer

pytestmark = pytest.mark.kafka
PASSWORD = "hush-hush"
JAAS = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    f'username="me" password="{PASSWORD}" user_me="{PASSWORD}";'
)


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a broker's listener that takes nobody without a password."""
    address = f"127.0.0.1:{free_port()}"
    plain = "PLAINTEXT://127.0.0.1:{port}"
    template = broker_config._PROPERTIES.replace(plain, f"{plain},GUARDED://{address}") + (
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,GUARDED:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT\n"
        "listener.name.guarded.sasl.enabled.mechanisms=PLAIN\n"
        f"listener.name.guarded.plain.sasl.jaas.config={JAAS}\n"
    )
    monkeypatch.setattr(broker_config, "_PROPERTIES", template)
    broker = Broker(tmp_path / "kafka", dies_with_parent=True)
    broker.start()
    yield address
    broker.stop()


def test_every_client_shows_its_password_and_nobody_prints_it(guarded: str, tmp_path: Path) -> None:
    settings = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "PLAIN", "sasl.username": "me"}
    kafka = KafkaSettings(guarded, {**settings, "sasl.password": PASSWORD})
    views = view_file(tmp_path, "guarded")
    view, rows = load_views(views)["guarded"], updates(seed=71, count=500)
    ensure_topics(kafka, view)
    publish(kafka, view.topic("updates"), rows)
    flags = [word for name, value in kafka.extra.items() for word in ("--kafka", f"{name}={value}")]
    with Maintainer(kafka, views, tmp_path / "state", *flags, "--log-level", "DEBUG") as maintainer:
        maintainer.until(lambda: committed(kafka, "guarded") == len(rows), "everything committed")
        assert maintainer.stop() == 0, maintainer.text()
    check_published(kafka, view, rows)
    assert PASSWORD not in maintainer.text()
    with Maintainer(kafka, views, tmp_path / "state", *flags, "--kafka", "sasl.password=wrong-one") as stranger:
        assert stranger.wait_end() == 1
    assert f"no broker answers at {guarded}" in stranger.text()
    assert "Authentication failed" in stranger.text()
    assert "wrong-one" not in stranger.text()
