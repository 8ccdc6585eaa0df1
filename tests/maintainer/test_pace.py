"""Batches are large where updates change little, and small where each changes thousands of members."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from prometheus_client import CollectorRegistry

from maintainer import pace as pace_module
from maintainer.config import MaintainerConfig
from maintainer.keyed import KeyedState
from maintainer.output import Output
from maintainer.pace import FIRST, MOST_RECORDS, Pace
from maintainer.runner import Runner
from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import MAX_BATCH
from skyline.runtime.metrics import Metrics
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from skyline.wire.decode import Decoded
from tests.maintainer.harness import publish
from tests.maintainer.process import eventually


def test_batches_grow_while_little_changes_and_shrink_when_much_does() -> None:
    pace = Pace()
    for _ in range(20):
        pace.made(0)
    assert pace.limit == MAX_BATCH
    pace.made(100 * MOST_RECORDS)
    assert pace.limit == MAX_BATCH // 100
    pace.made(10**12)
    assert pace.limit == 1
    pace.made(MOST_RECORDS)
    assert pace.limit == 2


@pytest.mark.kafka
def test_a_backlog_of_updates_that_change_everything_is_taken_in_small_pieces(
    kafka: KafkaSettings, unique: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members, turns, most = 50, 300, 500
    made: list[int] = []

    class Watched(KeyedState):
        def apply(self, batch: Decoded) -> Output:
            output = super().apply(batch)
            made.append(len(output.records))
            return output

    monkeypatch.setattr(pace_module, "MOST_RECORDS", most)
    monkeypatch.setattr("maintainer.state.KeyedState", Watched)
    view = View.of(unique, {"dimensions": {"price": "min", "rating": "max"}})
    ensure_topics(kafka, view)
    rows: list[Any] = [(b"m%d" % i, b'{"price":%d,"rating":%d}' % (i + 1, i), 1) for i in range(members)]
    for _ in range(turns):  # one object that beats all others comes and goes
        rows += [(b"best", b'{"price":0,"rating":99}', 1), (b"best", None, 1)]
    publish(kafka, view.topic("updates"), rows)
    metrics = Metrics(CollectorRegistry())
    quiet = KafkaSettings(kafka.bootstrap, {"log_level": "0"})
    group = Consumer(quiet.client(group_id=f"skyline-maintainer.{unique}"))  # without members anybody may commit
    for again in (False, True):  # then without a checkpoint: what could not be applied at once, cannot be replayed so
        runner = Runner(view, MaintainerConfig(quiet, state=tmp_path), group.consumer_group_metadata, metrics)
        runner.start()
        eventually(lambda runner=runner: runner.committed == len(rows) or runner.failure is not None, "all applied")
        runner.stop()
        runner.join()
        assert runner.failure is None
        for file in tmp_path.glob("*.checkpoint"):
            file.unlink()
        assert sum(made) == (2 if again else 1) * 2 * (members + turns * 2 * (members + 1))
    assert max(made) <= 2 * (members + FIRST * (members + 1))
    group.close()
