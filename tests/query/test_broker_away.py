"""The service while the broker is away and after it is back, and when its topic is taken away for good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from confluent_kafka.admin import AdminClient

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from tests.query.harness import START, Client, Publisher, Query, Row

pytestmark = pytest.mark.kafka


@pytest.fixture
def home_broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker of this test's own."""
    running = Broker(tmp_path / "kafka", dies_with_parent=True)
    running.start()
    yield running
    running.stop()


def hotel(key: str, price: float) -> Row:
    return key.encode(), orjson.dumps({"price": price}), START


def made(kafka: KafkaSettings, name: str, home: Path) -> tuple[View, Path]:
    path = home / "views.toml"
    path.write_text(f'[{name}]\ndimensions = {{ price = "min" }}\n')
    view = load_views(path)[name]
    ensure_topics(kafka, view)
    return view, path


def test_answers_go_on_without_the_broker_and_updates_after_it_is_back(
    home_broker: Broker, unique: str, tmp_path: Path
) -> None:
    kafka = KafkaSettings(home_broker.address)
    view, path = made(kafka, unique, tmp_path)
    Publisher(kafka).publish(view, [hotel("a", 5), hotel("b", 6)])
    service = Query(kafka, path, tmp_path, "--wait-seconds", "60")
    service.wait_ready()
    with Client(service.address) as client:
        before = client.ask(f"/views/{unique}/skyline", min_offset=1)
        home_broker.kill()
        assert client.ask(f"/views/{unique}/skyline") == before
        assert client.ask(f"/views/{unique}/objects/b")["dominated_by"]["members"][0]["key"] == "a"
        assert client.get("/healthz").status_code == 200
        home_broker.start()
        last = Publisher(kafka).publish(view, [hotel("c", 4)])
        after = client.ask(f"/views/{unique}/skyline", min_offset=last)
        assert [member["key"] for member in after["members"]] == ["c"]
    assert service.stop() == 0


def test_a_topic_that_is_deleted_ends_the_service_with_a_word(
    kafka: KafkaSettings, unique: str, tmp_path: Path
) -> None:
    view, path = made(kafka, unique, tmp_path)
    Publisher(kafka).publish(view, [hotel("a", 5)])
    service = Query(kafka, path, tmp_path)
    service.wait_ready()
    topic = view.topic("updates")
    admin = AdminClient(kafka.client())  # alive until the answer is there
    admin.delete_topics([topic])[topic].result()
    assert service.process.wait(120) == 1
    assert f"{topic}[0] cannot be read" in service.text()
    assert "Traceback" not in service.text()
