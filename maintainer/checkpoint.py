"""The checkpoints of one view: its state at offsets that were committed, one file each.

A file is written under another name and renamed when it is whole: a crash leaves the older ones. Two are kept, in
case the newest is damaged later. Each names the updates topic by its id: one that was deleted and created again has
another, and offsets of the old one mean nothing in it.
"""

from __future__ import annotations

import logging
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from maintainer import checkpoint_file
from maintainer.checkpoint_file import CheckpointDamaged, State
from maintainer.definition import ViewChanged, definition
from skyline.view import View

_KEPT: Final = 2
_NAME: Final = re.compile(r".+\.(\d{20})\.checkpoint\Z")
_log = logging.getLogger("maintainer.checkpoint")


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The checkpoints of one view in one directory."""

    directory: Path
    view: View
    topic_id: str
    """Of the updates topic."""

    def write(self, state: State) -> int:
        """Writes the state that stands at `state["position"]`, drops the oldest, gives the size in bytes."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._drop_unfinished()
        place = self.directory / f"{self.view.name}.{state['position']:020d}.checkpoint"
        unfinished = self.directory / f"{self.view.name}.{uuid.uuid4().hex}.unfinished"
        try:
            checkpoint_file.write(unfinished, self._marked(state))
            unfinished.rename(place)
        except OSError:
            unfinished.unlink(missing_ok=True)  # half a checkpoint on a full disk would keep it full
            raise
        _sync_directory(self.directory)
        size = place.stat().st_size
        # by age: those of a topic that was deleted may stand at larger offsets for long
        for old in sorted(self._files(), key=_written, reverse=True)[_KEPT:]:
            old.unlink(missing_ok=True)
        return size

    def usable(self, limit: int) -> Iterator[tuple[Path, State]]:
        """The whole checkpoints at or below offset `limit`, newest first; the others get a warning."""
        for file in self._files():
            if _position(file) > limit:
                _log.warning("%s is ahead of the committed offset %d: not used", file, limit)
                continue
            try:
                state = checkpoint_file.read(file)
            except (CheckpointDamaged, OSError) as error:
                _log.warning("%s; the one before, or the log, is used", error)
                continue
            if state.pop("topic_id", "") != self.topic_id:
                _log.warning("%s is of another topic that had the same name: not used", file)
                continue
            if state.pop("definition") != definition(self.view):
                raise ViewChanged(self.view, str(file))
            yield file, state

    def _marked(self, state: State) -> State:
        return {**state, "definition": definition(self.view), "topic_id": self.topic_id}

    def _files(self) -> list[Path]:
        """Newest first. Files that are named otherwise are none of ours."""
        found = self.directory.glob(f"{self.view.name}.*.checkpoint")
        return sorted(filter(_is_checkpoint, found), key=_position, reverse=True)

    def _drop_unfinished(self) -> None:
        """What a crash in the middle of `write` left. A zombie that still writes will miss its file, and say so."""
        for file in self.directory.glob(f"{self.view.name}.*.unfinished"):
            file.unlink(missing_ok=True)


def _is_checkpoint(file: Path) -> bool:
    return _NAME.match(file.name) is not None


def _position(file: Path) -> int:
    return int(file.name.rsplit(".", 2)[1])


def _written(file: Path) -> int:
    """When, in nanoseconds; 0 for a file that is gone by now."""
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
