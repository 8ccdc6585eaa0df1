"""Standby and zombie: who owns a view, and who must not publish any more."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from tests.maintainer.harness import check_published, committed, publish, updates, view_file
from tests.maintainer.process import Maintainer, eventually

pytestmark = pytest.mark.kafka
MAINTAINS = "this process maintains the view"


@pytest.fixture
def view(kafka: KafkaSettings, unique: str, tmp_path: Path) -> View:
    view = load_views(view_file(tmp_path, unique))[unique]
    ensure_topics(kafka, view)
    return view


def test_the_standby_takes_over_from_the_checkpoint(kafka: KafkaSettings, view: View, tmp_path: Path) -> None:
    rows = updates(seed=21, count=3000)
    views, state = tmp_path / f"{view.name}.toml", tmp_path / "state"
    with Maintainer(kafka, views, state) as first:
        publish(kafka, view.topic("updates"), rows[:1000])
        first.until(lambda: committed(kafka, view.name) == 1000, "first part committed")
        with Maintainer(kafka, views, state) as standby:
            publish(kafka, view.topic("updates"), rows[1000:2000])  # while the standby joins, the group rebalances
            first.until(lambda: committed(kafka, view.name) == 2000, "second part committed by the first")
            eventually(lambda: bool(list(state.glob("*.checkpoint"))), "a checkpoint")
            assert MAINTAINS not in standby.text()
            first.kill()
            publish(kafka, view.topic("updates"), rows[2000:])
            standby.until(lambda: committed(kafka, view.name) == 3000, "third part committed by the standby")
            assert MAINTAINS in standby.text()
            replayed = next(line for line in standby.text().splitlines() if "replayed" in line)
            assert int(replayed.split("replayed ")[1].split()[0]) < 2000  # the checkpoint spared it the rest
            assert standby.stop() == 0, standby.text()
    check_published(kafka, view, rows)


@pytest.mark.parametrize("point", ["produce", "offsets", "before_commit", "after_commit", "applied"])
def test_a_zombie_cannot_publish(kafka: KafkaSettings, view: View, tmp_path: Path, point: str) -> None:
    """Paused in the middle of its work, replaced, then resumed: it ends, and nothing of it shows."""
    rows = updates(seed=22, count=2000)
    publish(kafka, view.topic("updates"), rows[:1000])
    views, state = tmp_path / f"{view.name}.toml", tmp_path / "state"
    with Maintainer(kafka, views, state, trap=(point, 1, signal.SIGSTOP)) as zombie:
        eventually(zombie.is_stopped, f"the first maintainer pauses at {point}")
        with Maintainer(kafka, views, state) as standby:
            standby.until(lambda: "live at" in standby.text(), "the standby has taken over")
            standby.until(lambda: committed(kafka, view.name) == 1000, "all is committed")
            zombie.signal(signal.SIGCONT)
            publish(kafka, view.topic("updates"), rows[1000:])
            assert zombie.wait_end() == 1
            standby.until(lambda: committed(kafka, view.name) == 2000, "the standby goes on")
            assert standby.stop() == 0, standby.text()
    check_published(kafka, view, rows)
