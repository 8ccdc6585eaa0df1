"""Which checkpoint is used, which is kept: those of this topic, whole, and of a version that can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from maintainer.checkpoint import Checkpoints
from maintainer.recovery import saved_state
from maintainer.state import ViewState, new_state
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records

VIEW = View.of("hotels", {"dimensions": {"price": "min"}})


def state_at(position: int) -> ViewState:
    """The state after one update just before that offset."""
    state = new_state(VIEW)
    state.apply(UpdateDecoder(VIEW).decode(Records.of([(b"a", b'{"price":1}', 1, position - 1)])))
    return state


def positions(directory: Path) -> list[int]:
    return sorted(int(file.name.split(".")[1]) for file in directory.glob("*.checkpoint"))


def test_the_two_newest_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, VIEW, "topic")
    for position in (10, 20, 30, 40):
        checkpoints.write(state_at(position).dump())
    assert positions(tmp_path) == [30, 40]
    assert [state["position"] for _, state in checkpoints.usable(limit=40)] == [40, 30]
    assert [state["position"] for _, state in checkpoints.usable(limit=39)] == [30]


def test_those_of_a_topic_that_was_deleted_are_not_used_and_make_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = (Checkpoints(tmp_path, VIEW, topic) for topic in ("deleted", "created again"))
    for position in (500, 600):
        old.write(state_at(position).dump())
    for position in (10, 20):
        new.write(state_at(position).dump())
        assert position in positions(tmp_path)  # though two others stand at larger offsets
        assert next(new.usable(limit=1000))[1]["position"] == position
    assert positions(tmp_path) == [10, 20]
    assert "is of another topic that had the same name: not used" in caplog.text


def test_one_that_this_version_cannot_read_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    checkpoints = Checkpoints(tmp_path, VIEW, "topic")
    checkpoints.write(state_at(10).dump())
    checkpoints.write({**state_at(20).dump(), "version": 99})
    state = saved_state(VIEW, checkpoints, limit=100)
    assert state is not None
    assert state.position == 10
    assert "version 99" in caplog.text
    assert saved_state(VIEW, checkpoints, limit=5) is None
