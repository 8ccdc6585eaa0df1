"""Snapshots by the live engine: every update in turn, members followed by its changes."""

from __future__ import annotations

from collections.abc import Sequence

from skyline import Skyline
from skyline.live.changes import LEAVE, Changes
from spark_jobs.replay_rows import Members, Rows


class Forest:
    """The dominance forest, which also orders what expires in between. O(changes) to follow, beyond the engine."""

    def __init__(self, directions: Sequence[str]) -> None:
        self._live = Skyline({f"x{axis}": direction for axis, direction in enumerate(directions)})
        self._members: Members = {}

    def advance(self, rows: Rows, at: int) -> Members:
        """The members as of `at`; the dict is the engine's own, and changes with the next call."""
        if len(rows):
            self._follow(
                self._live.apply(
                    rows.keys, rows.points, rows.deleted, rows.valid_until, rows.clocks, valid_from=rows.valid_from,
                    groups=rows.labels,
                )
            )  # fmt: skip
        if at > self._live.clock:
            self._follow(self._live.advance(at))
        return self._members

    def _follow(self, changes: Changes) -> None:
        columns = (changes.ops.tolist(), changes.keys, changes.groups, changes.points.tolist())
        for op, key, label, point in zip(*columns, strict=True):
            if op == LEAVE:
                del self._members[str(key)]
            else:
                self._members[str(key)] = (str(label), tuple(point))
