"""What recovery finds, or does not find: damaged checkpoints, truncated logs, other definitions."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from maintainer.definition import fingerprint
from maintainer.metadata import write_metadata
from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from tests.maintainer.harness import check_published, committed, publish, read_all, updates, view_file
from tests.maintainer.process import Maintainer

pytestmark = pytest.mark.kafka
ROWS = updates(seed=31, count=1500)


class Stage:
    """One view, its topics, its checkpoints, and maintainers that come and go."""

    def __init__(self, kafka: KafkaSettings, name: str, home: Path) -> None:
        self.kafka, self.home = kafka, home
        self.views, self.state = view_file(home, name), home / "state"
        self.view: View = load_views(self.views)[name]
        self.updates = TopicPartition(self.view.topic("updates"), 0)
        self.sent = 0
        ensure_topics(kafka, self.view)

    def run(self, rows: int, *more: str) -> str:
        """Sends so many rows, waits until they are committed, ends in good order; gives what the maintainer said."""
        publish(self.kafka, self.updates.topic, ROWS[self.sent : self.sent + rows])
        self.sent += rows
        with Maintainer(self.kafka, self.views, self.state, *more) as maintainer:
            maintainer.until(lambda: "live at" in maintainer.text(), "live")
            maintainer.until(lambda: committed(self.kafka, self.view.name) == self.sent, "all committed")
            assert maintainer.stop() == 0, maintainer.text()
            return maintainer.text()

    def fail(self) -> str:
        """What a maintainer says that ends by itself."""
        with Maintainer(self.kafka, self.views, self.state) as maintainer:
            assert maintainer.wait_end() == 1
            return maintainer.text()

    def checkpoints(self) -> list[Path]:
        """Newest first."""
        return sorted(self.state.glob("*.checkpoint"), reverse=True)

    def forget(self, before: int) -> None:
        """Drops the beginning of the updates."""
        admin, place = AdminClient(self.kafka.client()), TopicPartition(self.updates.topic, 0, before)
        admin.delete_records([place])[place].result()

    def check(self) -> None:
        check_published(self.kafka, self.view, ROWS[: self.sent])


@pytest.fixture
def stage(kafka: KafkaSettings, unique: str, tmp_path: Path) -> Stage:
    return Stage(kafka, unique, tmp_path)


def test_a_torn_checkpoint_is_noticed_and_the_one_before_is_used(stage: Stage) -> None:
    stage.run(500)
    stage.run(500)
    newest, older = stage.checkpoints()[:2]
    newest.write_bytes(newest.read_bytes()[:-100])
    said = stage.run(200)
    assert f"{newest} is torn or damaged" in said
    assert f"replayed {1000 - int(older.name.split('.')[1])} updates to offset 1000" in said
    stage.check()


def test_with_all_checkpoints_damaged_the_log_is_replayed(stage: Stage) -> None:
    stage.run(500)
    stage.run(500)
    for file in stage.checkpoints():
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    said = stage.run(200)
    assert said.count("is torn or damaged") == 2
    assert "replayed 1000 updates to offset 1000" in said
    stage.check()


def test_without_a_checkpoint_the_log_is_replayed(stage: Stage) -> None:
    stage.run(700)
    for file in stage.checkpoints():
        file.unlink()
    (stage.state / f"{stage.view.name}.notes.checkpoint").write_text("not ours")
    assert "replayed 700 updates to offset 700" in stage.run(0)
    stage.run(100)
    stage.check()


def test_a_checkpoint_ahead_of_the_committed_offset_is_not_used(stage: Stage) -> None:
    stage.run(600)
    newest = stage.checkpoints()[0]
    newest.rename(newest.with_name(f"{stage.view.name}.{10_000:020d}.checkpoint"))
    assert "ahead of the committed offset 600: not used" in stage.run(100)
    stage.check()


def test_a_log_that_begins_too_late_is_an_error(stage: Stage) -> None:
    stage.run(500)
    for file in stage.checkpoints():
        file.unlink()
    stage.forget(before=200)
    before = read_all(stage.kafka, stage.view.topic("changes"))
    said = stage.fail()
    assert "begins at offset 200, but there is no checkpoint: updates in between are gone" in said
    assert read_all(stage.kafka, stage.view.topic("changes")) == before


def test_a_log_that_begins_after_the_checkpoint_is_fine(stage: Stage) -> None:
    stage.run(500)
    stage.forget(before=500)
    stage.run(300)
    stage.check()


def test_a_log_that_lost_its_end_is_an_error(stage: Stage) -> None:
    stage.run(500)
    _commit(stage, 700)
    assert "ends at offset 500, but the group has committed 700" in stage.fail()


def test_a_lost_offset_is_an_error(stage: Stage) -> None:
    stage.run(500)
    admin, group = AdminClient(stage.kafka.client()), f"skyline-maintainer.{stage.view.name}"
    admin.delete_consumer_groups([group])[group].result()
    assert "has records, but the group has no committed offset" in stage.fail()


def test_another_definition_is_an_error_with_or_without_a_checkpoint(stage: Stage) -> None:
    stage.run(500)
    view_file(stage.home, stage.view.name, dimensions={"price": "min", "rating": "min"})
    assert "is defined otherwise" in stage.fail()
    for file in stage.checkpoints():
        file.unlink()
    assert "is defined otherwise" in stage.fail()


def test_another_engine_takes_over(stage: Stage) -> None:
    stage.run(500)
    view_file(stage.home, stage.view.name, engine="recompute")
    stage.run(300)
    stage.check()


def test_replay_that_gives_another_log_is_an_error(stage: Stage) -> None:
    stage.run(500)
    _commit(stage, 500, write_metadata(3, fingerprint(stage.view)))
    assert "but 3 were published: nothing more is published" in stage.fail()


def test_checkpoints_that_cannot_be_written_are_an_error_line_only(stage: Stage) -> None:
    stage.state.write_text("a file where the directory should be")
    said = stage.run(500)
    assert "no checkpoint was written: [Errno" in said
    assert "Traceback" not in said
    stage.run(100)
    stage.check()


def _commit(stage: Stage, offset: int, metadata: str = "") -> None:
    """Sets the group's offset, as an administrator might."""
    consumer = Consumer(stage.kafka.client(group_id=f"skyline-maintainer.{stage.view.name}"))
    place = TopicPartition(stage.updates.topic, 0, offset, metadata=metadata)
    consumer.commit(offsets=[place], asynchronous=False)
    consumer.close()


@pytest.mark.parametrize("offset", [0, 200, 600])
def test_an_offset_that_somebody_set_where_it_does_not_fit_is_an_error(stage: Stage, offset: int) -> None:
    """Going on from there would publish changes a second time, or leave some out."""
    stage.run(500)
    publish(stage.kafka, stage.updates.topic, ROWS[500:700])
    _commit(stage, offset)
    before = read_all(stage.kafka, stage.view.topic("changes"))
    assert f"to offset {offset} gives" in (said := stage.fail())
    assert f"but {len(before)} were published" in said
    assert read_all(stage.kafka, stage.view.topic("changes")) == before


def test_a_lost_offset_can_be_restored_as_the_error_says(stage: Stage) -> None:
    stage.run(500)
    admin, group = AdminClient(stage.kafka.client()), f"skyline-maintainer.{stage.view.name}"
    admin.delete_consumer_groups([group])[group].result()
    said = stage.fail()
    _commit(stage, int(said.split("--to-offset ")[1].split(",")[0]))
    stage.run(300)
    stage.check()
