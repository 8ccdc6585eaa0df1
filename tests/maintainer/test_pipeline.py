"""The maintainer as a process, on a real broker, undisturbed."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from tests.maintainer.harness import (
    check_published,
    committed,
    publish,
    read_all,
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


def test_coalesced_changes_still_lead_to_the_skyline(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    views = view_file(tmp_path, unique, coalesce=True)
    view = load_views(views)[unique]
    ensure_topics(kafka, view)
    rows = updates(seed=3, count=2000)
    for end in (1000, 2000):
        publish(kafka, view.topic("updates"), rows[end - 1000 : end])
        with Maintainer(kafka, views, tmp_path / "state") as maintainer:
            maintainer.until(lambda end=end: committed(kafka, unique) == end, "part committed")
            assert maintainer.stop() == 0, maintainer.text()
    seqs = [orjson.loads(value or b"")["seq"] for _, value, _ in read_all(kafka, view.topic("changes"))]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) < 700
