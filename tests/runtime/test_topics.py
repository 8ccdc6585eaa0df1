"""Topics: created as they must be, refused with the reason and the remedy where they are not."""

from __future__ import annotations

import socket

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from skyline.runtime import topics
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import SETTINGS, KafkaUnreachable, TopicUnfit, ensure_topics
from skyline.view import TOPIC_KINDS, View
from tests.maintainer.process import eventually

pytestmark = pytest.mark.kafka


@pytest.fixture
def admin(kafka: KafkaSettings) -> AdminClient:
    return AdminClient(kafka.client())


@pytest.fixture
def view(unique: str) -> View:
    return View.of(unique, {"dimensions": {"price": "min"}})


def create(admin: AdminClient, name: str, partitions: int = 1, **settings: str) -> None:
    config = {key.replace("_", "."): value for key, value in settings.items()}
    admin.create_topics([NewTopic(name, partitions, 1, config=config)])[name].result()
    # a broker hears of a new topic a moment after the controller has answered
    eventually(lambda: name in admin.list_topics(timeout=10).topics, f"{name} is known")


def _named(settings: dict[str, str]) -> dict[str, str]:
    return {name.replace(".", "_"): text for name, text in settings.items()}


@pytest.mark.parametrize("kind", TOPIC_KINDS)
def test_topics_are_created_with_their_settings(
    kafka: KafkaSettings, admin: AdminClient, view: View, kind: str
) -> None:
    ensure_topics(kafka, view)
    topic = view.topic(kind)
    assert len(admin.list_topics(topic, timeout=10).topics[topic].partitions) == 1
    resource = ConfigResource(ResourceType.TOPIC, topic)
    current = admin.describe_configs([resource])[resource].result()
    assert {name: current[name].value for name in SETTINGS[kind]} == SETTINGS[kind]


def test_once_created_they_are_accepted(kafka: KafkaSettings, view: View) -> None:
    ensure_topics(kafka, view)
    ensure_topics(kafka, view)


@pytest.mark.parametrize("kind", TOPIC_KINDS)
def test_several_partitions_are_refused_with_the_reason(
    kafka: KafkaSettings, admin: AdminClient, view: View, kind: str
) -> None:
    create(admin, view.topic(kind), partitions=3)
    with pytest.raises(TopicUnfit, match=f"{view.topic(kind)} has 3 partitions: a view needs exactly 1, because"):
        ensure_topics(kafka, view)
    others = [view.topic(other) for other in TOPIC_KINDS if other != kind]
    assert not set(others) & set(admin.list_topics(timeout=10).topics)  # nothing was created beside it


@pytest.mark.parametrize(
    ("kind", "setting", "value", "wanted"),
    [
        ("updates", "cleanup_policy", "compact", "delete"),
        ("changes", "cleanup_policy", "compact", "delete"),
        ("changes", "retention_ms", "604800000", "-1"),
        ("changes", "retention_bytes", "1000000", "-1"),
        ("skyline", "cleanup_policy", "delete", "compact"),
        ("skyline", "cleanup_policy", "compact,delete", "compact"),
        ("skyline", "max_message_bytes", "1048588", "16777216"),
        ("rejected", "max_message_bytes", "1048588", "16777216"),
        ("changes", "message_timestamp_after_max_ms", "3600000", "9223372036854775807"),
        ("changes", "message_timestamp_type", "LogAppendTime", "CreateTime"),
    ],
)
def test_wrong_settings_are_refused_with_the_remedy(
    kafka: KafkaSettings, admin: AdminClient, view: View, kind: str, setting: str, value: str, wanted: str
) -> None:
    create(admin, view.topic(kind), **_named(SETTINGS[kind]) | {setting: value})
    name = setting.replace("_", ".")
    with pytest.raises(TopicUnfit) as problem:
        ensure_topics(kafka, view)
    assert f"topic {view.topic(kind)} has {name}={value}" in str(problem.value)
    assert f"--alter --topic {view.topic(kind)} --add-config {name}={wanted}" in str(problem.value)


def test_a_topic_that_somebody_else_creates_meanwhile_is_checked_too(
    kafka: KafkaSettings, admin: AdminClient, view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [dict[str, int]()]  # at first the broker does not know of it

    def look(*arguments: object) -> dict[str, int]:
        return looks.pop() if looks else existing(*arguments)  # type: ignore[arg-type]

    existing = topics._existing
    monkeypatch.setattr(topics, "_existing", look)
    create(admin, view.topic("changes"), **_named(SETTINGS["changes"]) | {"retention_ms": "1000"})
    with pytest.raises(TopicUnfit, match=r"retention.ms=1000"):
        ensure_topics(kafka, view)


def test_larger_records_than_needed_are_fine(kafka: KafkaSettings, admin: AdminClient, view: View) -> None:
    create(admin, view.topic("rejected"), **_named(SETTINGS["rejected"]) | {"max_message_bytes": "33554432"})
    ensure_topics(kafka, view)


def test_a_broker_that_is_away_is_one_error(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "TIMEOUT", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(KafkaUnreachable, match=f"no broker answers at {address}"):
            ensure_topics(KafkaSettings(address), view)
