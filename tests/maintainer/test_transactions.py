"""Transactions that a broker refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from tests.maintainer.harness import check_published, committed, publish, updates, view_file
from tests.maintainer.process import Maintainer

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize("kind", ["changes", "skyline", "rejected"])
def test_a_record_that_is_refused_ends_the_process_and_the_next_one_goes_on(
    kafka: KafkaSettings, unique: str, tmp_path: Path, kind: str
) -> None:
    """The producer would be stuck afterwards, and the view with it, until its patience ended."""
    views = view_file(tmp_path, unique)
    view, rows = load_views(views)[unique], updates(seed=81, count=1000)
    ensure_topics(kafka, view)
    publish(kafka, view.topic("updates"), rows[:300])
    with Maintainer(kafka, views, tmp_path / "state") as maintainer:
        maintainer.until(lambda: committed(kafka, unique) == 300, "first part committed")
        _limit(kafka, view.topic(kind), 60)
        publish(kafka, view.topic("updates"), rows[300:])
        assert maintainer.wait_end() == 1
        assert "Kafka refuses to go on: ProduceRequest" in maintainer.text()
        assert "Message size too large" in maintainer.text()
        assert "sent again" not in maintainer.text()
    _limit(kafka, view.topic(kind), 16 * 2**20)
    with Maintainer(kafka, views, tmp_path / "state") as maintainer:
        maintainer.until(lambda: committed(kafka, unique) == len(rows), "all committed")
        assert maintainer.stop() == 0, maintainer.text()
    check_published(kafka, view, rows)


def _limit(kafka: KafkaSettings, topic: str, size: int) -> None:
    entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient(kafka.client())
    admin.incremental_alter_configs([resource])[resource].result()
