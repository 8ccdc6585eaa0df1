"""The maintainer as a process, on a real broker, undisturbed."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from tests.maintainer.harness import (
    check_published,
    committed,
    publish,
    read_all,
    transactions,
    updates,
    view_file,
)
from tests.maintainer.process import Maintainer

pytestmark = pytest.mark.kafka


def test_updates_become_changes(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    views = view_file(tmp_path, unique)
    view = load_views(views)[unique]
    ensure_topics(kafka, view)
    rows = updates(seed=1, count=3000)
    publish(kafka, view.topic("updates"), rows)
    with Maintainer(kafka, views, tmp_path / "state") as maintainer:
        maintainer.until(lambda: committed(kafka, unique) == len(rows), "everything committed")
        assert maintainer.stop() == 0, maintainer.text()
    check_published(kafka, view, rows)
    rejected = read_all(kafka, view.topic("rejected"))
    assert [value for _, value, _ in rejected if value == b"{nonsense"] == [b"{nonsense"] * sum(
        value == b"{nonsense" for _, value, _ in rows
    )
    assert list((tmp_path / "state").glob("*.checkpoint"))


def test_a_second_run_goes_on_where_the_first_ended(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    views = view_file(tmp_path, unique)
    view = load_views(views)[unique]
    ensure_topics(kafka, view)
    rows = updates(seed=2, count=2000)
    for part in (rows[:700], rows[700:1500], rows[1500:]):
        publish(kafka, view.topic("updates"), part)
        done = committed(kafka, unique)
        with Maintainer(kafka, views, tmp_path / "state") as maintainer:
            past = max(done, 0) + len(part)
            maintainer.until(lambda past=past: committed(kafka, unique) == past, "part committed")
            assert maintainer.stop() == 0, maintainer.text()
    check_published(kafka, view, rows)


def test_more_than_one_partition_is_refused(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    views = view_file(tmp_path, unique)
    admin = AdminClient(kafka.client())
    admin.create_topics([NewTopic(f"{unique}.updates", 3)])[f"{unique}.updates"].result()
    with Maintainer(kafka, views, tmp_path / "state") as maintainer:
        assert maintainer.wait_end() == 1
    assert "has 3 partitions: a view needs exactly 1" in maintainer.text()


def test_partitions_that_are_added_later_are_refused(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    views = view_file(tmp_path, unique)
    flags = ("--kafka", "topic.metadata.refresh.interval.ms=200")
    with Maintainer(kafka, views, tmp_path / "state", *flags) as maintainer:
        maintainer.until(lambda: "live at" in maintainer.text(), "live")
        admin, topic = AdminClient(kafka.client()), f"{unique}.updates"
        admin.create_partitions([NewPartitions(topic, 2)])[topic].result()
        assert maintainer.wait_end() == 1
    assert f"topic {topic} was given more partitions: a view needs exactly 1" in maintainer.text()


def test_a_group_that_cannot_be_joined_is_an_error(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    views = view_file(tmp_path, unique)
    with Maintainer(kafka, views, tmp_path / "state", "--session-timeout-ms", "500") as maintainer:
        assert maintainer.wait_end() == 1
    assert f"the group of view '{unique}' cannot be joined" in maintainer.text()
    assert "session timeout" in maintainer.text().lower()


def test_coalesced_changes_lead_to_the_skyline_with_one_change_per_object_and_transaction(
    kafka: KafkaSettings, unique: str, tmp_path: Path
) -> None:
    views = view_file(tmp_path, unique, coalesce=True)
    view = load_views(views)[unique]
    ensure_topics(kafka, view)
    rows = updates(seed=3, count=1500, objects=20)
    producer = Producer(kafka.client(linger_ms=0))
    with Maintainer(kafka, views, tmp_path / "state") as maintainer:
        maintainer.until(lambda: "live at" in maintainer.text(), "live")
        for key, value, at in rows[:700]:  # one by one: each poll gives a few of them, each transaction many
            producer.produce(view.topic("updates"), value, key, timestamp=at)
            assert producer.flush(60) == 0
        maintainer.until(lambda: committed(kafka, unique) == 700, "first part committed")
        maintainer.kill()
    publish(kafka, view.topic("updates"), rows[700:])
    with Maintainer(kafka, views, tmp_path / "state") as maintainer:
        maintainer.until(lambda: committed(kafka, unique) == len(rows), "second part committed")
        assert maintainer.stop() == 0, maintainer.text()
    check_published(kafka, view, rows)
    told = transactions(kafka, view)
    assert len(told) > 1
    assert all(len(set(keys)) == len(keys) for keys in told)
    assert sum(map(len, told)) < 700
