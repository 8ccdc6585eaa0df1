"""A view whose updates topic has lost its beginning is refused: answers without the older objects would be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from tests.query.harness import START, Publisher, Query


@pytest.mark.kafka
def test_a_log_that_lost_its_beginning_is_refused(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    path = tmp_path / "views.toml"
    path.write_text(f'[{unique}]\ndimensions = {{ price = "min" }}\n')
    view = load_views(path)[unique]
    ensure_topics(kafka, view)
    Publisher(kafka).publish(view, [(b"a", b'{"price": 1}', START), (b"b", b'{"price": 2}', START)])
    place = TopicPartition(view.topic("updates"), 0, 1)
    admin = AdminClient(kafka.client())
    admin.delete_records([place])[place].result()
    service = Query(kafka, path, tmp_path)
    assert service.process.wait(300) == 1
    assert f"{view.topic('updates')} begins at offset 1" in service.text()
    assert "Traceback" not in service.text()
