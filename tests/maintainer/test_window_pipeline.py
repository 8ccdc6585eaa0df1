"""Window views as a process on a real broker: killed or not, the same bytes on every topic."""

from __future__ import annotations

import signal
from itertools import pairwise
from pathlib import Path

import pytest

from maintainer.output import Out
from maintainer.state import new_state
from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from tests.maintainer import window_oracle
from tests.maintainer.harness import committed, publish, read_all, view_file
from tests.maintainer.process import Maintainer
from tests.maintainer.window_rows import window_updates

pytestmark = pytest.mark.kafka
CUTS = (0, 500, 1000, 1500, 2000)


def expected_records(view: View, rows: list[window_oracle.Row]) -> list[Out]:
    """All that should be published: one state, one batch, no broker. test_window_state holds it to the definition."""
    records = Records.of([(*row, offset) for offset, row in enumerate(rows)])
    return new_state(view).apply(UpdateDecoder(view).decode(records)).records


def check_topics(kafka: KafkaSettings, view: View, rows: list[window_oracle.Row]) -> None:
    expected = expected_records(view, rows)
    for kind in view.kinds[1:]:
        topic = view.topic(kind)
        told = [(out.key, out.value, out.timestamp) for out in expected if out.topic == topic]
        published = read_all(kafka, topic)
        assert told
        if kind == "skyline":  # compacted: the broker may have dropped what a later record of the key replaced
            assert set(published) <= set(told)
            assert _table(published) == _table(told)
        else:
            assert published == told


def _table(records: list[tuple[bytes | None, bytes | None, int]]) -> dict[bytes | None, bytes]:
    latest = {key: value for key, value, _ in records}
    return {key: value for key, value in latest.items() if value is not None}


def test_killed_again_and_again_it_publishes_the_same_bytes(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    """SIGKILL after applying, before and after a commit and while writing a checkpoint; watches have their topics."""
    views = view_file(tmp_path, unique, group_by=[], window={"size": 60, "watch": [5, 30]})
    view = load_views(views)[unique]
    ensure_topics(kafka, view)
    assert view.topic("changes.last-5") == f"{unique}.changes.last-5"
    rows = window_updates(21, 2500)
    for point, (start, end) in zip(
        ["applied", "before_commit", "after_commit", "checkpoint"], pairwise(CUTS), strict=True
    ):
        publish(kafka, view.topic("updates"), rows[start:end])
        with Maintainer(kafka, views, tmp_path / "state", trap=(point, 1, signal.SIGKILL)) as maintainer:
            assert maintainer.wait_end() == -signal.SIGKILL, maintainer.text()
    publish(kafka, view.topic("updates"), rows[CUTS[-1] :])
    with Maintainer(kafka, views, tmp_path / "state") as maintainer:
        maintainer.until(lambda: committed(kafka, unique) == len(rows), "everything committed")
        assert maintainer.stop() == 0, maintainer.text()
    check_topics(kafka, view, rows)


def test_a_window_by_span_goes_on_from_its_checkpoint(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    views = view_file(tmp_path, unique, group_by=[], window={"span": "150 ms", "watch": ["40 ms"]})
    view = load_views(views)[unique]
    ensure_topics(kafka, view)
    rows = window_updates(22, 1500)
    for start, end in ((0, 900), (900, 1500)):
        publish(kafka, view.topic("updates"), rows[start:end])
        with Maintainer(kafka, views, tmp_path / "state") as maintainer:
            maintainer.until(lambda end=end: committed(kafka, unique) == end, "part committed")
            assert maintainer.stop() == 0, maintainer.text()
    assert "replayed 0 updates to offset 900" in maintainer.text()
    check_topics(kafka, view, rows)
