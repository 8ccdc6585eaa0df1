"""All engines side by side through whatever Hypothesis thinks of: the same changes, and those of the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from skyline import InvalidInput, Skyline
from skyline.live import Change
from skyline.view import NEVER
from tests.live.conftest import ENGINES, maker
from tests.live.model import BEGINNING, Model
from tests.live.workload import COORDINATES, Row, apply_rows, expected_changes

KEYS = ["b", "a", "é", "", "a1"]
GROUPS = [None, "x", ("x", 1)]


@st.composite
def rows(draw: st.DrawFn) -> Any:
    """A row whose times are still relative to the clock, and whose point has the most dimensions there are."""
    return {
        "key": draw(st.sampled_from(KEYS)),
        "point": tuple(draw(st.lists(st.sampled_from(COORDINATES), min_size=8, max_size=8))),
        "deleted": draw(st.integers(0, 4)) == 0,
        "later": draw(st.integers(0, 3)),
        "starts": draw(st.none() | st.integers(-2, 5)),
        "ends": draw(st.none() | st.integers(-1, 9)),
        "group": draw(st.sampled_from(GROUPS)),
        "touched": draw(st.booleans()),
    }


class EveryEngine(RuleBasedStateMachine):
    @initialize(directions=st.lists(st.sampled_from(["min", "max"]), min_size=1, max_size=8))
    def begin(self, directions: list[str]) -> None:
        self.directions = directions
        self.model = Model(directions)
        self.lives = [maker(*engine)(directions) for engine in ENGINES]
        self.replayed: dict[Any, tuple[float, ...]] = {}

    @rule(batch=st.lists(rows(), min_size=1, max_size=6))
    def apply(self, batch: list[dict[str, Any]]) -> None:
        at, timed = max(self.model.clock, 0), []
        for row in batch:
            at += row["later"]
            start = BEGINNING if row["starts"] is None else at + row["starts"]
            end = NEVER if row["ends"] is None else at + row["ends"]
            point = row["point"][: len(self.directions)]
            timed.append(Row(row["key"], point, row["deleted"], at, start, end, row["group"], row["touched"]))
        expected = expected_changes(self.model, timed)
        for live in self.lives:
            assert apply_rows(live, timed) == expected, live.engine
        self.replay(expected)

    @rule(later=st.integers(0, 12))
    def advance(self, later: int) -> None:
        at = max(self.model.clock, 0) + later
        expected = self.model.advance(at)
        for live in self.lives:
            assert list(live.advance(at)) == expected, live.engine
        self.replay(expected)

    @rule(shift=st.integers(0, len(ENGINES) - 1))
    def dump_and_load(self, shift: int) -> None:
        """Each engine goes on from a state that an engine, itself or another, has dumped."""
        states = [live.dump() for live in self.lives]
        self.lives = [
            Skyline.load(states[(i + shift) % len(states)], engine=name, **options)
            for i, (name, options) in enumerate(ENGINES)
        ]

    @rule(key=st.sampled_from(KEYS))
    def refuse(self, key: str) -> None:
        """A batch whose last row has no meaning."""
        points = [[0.0] * len(self.directions), [np.nan] * len(self.directions)]
        for live in self.lives:
            try:
                live.apply([key, "new"], points)
            except InvalidInput:
                continue
            raise AssertionError(f"{live.engine} took NaN")

    @rule(key=st.sampled_from(KEYS))
    def explain(self, key: str) -> None:
        expected = self.model.dominators(key)
        for live in self.lives:
            why = live.explain(key)
            assert (why.known, why.live) == (key in self.model.records, key in self.model.live())
            assert list(why.dominators) == expected

    def replay(self, changes: list[Change]) -> None:
        for change in changes:
            if change.op == "leave":
                assert self.replayed.pop(change.key) == change.point
            else:
                assert (change.key in self.replayed) == (change.op == "move")
                self.replayed[change.key] = change.point

    @invariant()
    def members_are_those_of_the_model_and_of_the_changes(self) -> None:
        if not hasattr(self, "model"):
            return
        expected = {key: tuple(x + 0.0 for x in record.point) for key, record in self.model.members().items()}
        assert self.replayed == expected
        for live in self.lives:
            assert live.members() == expected
            assert live.clock == self.model.clock
            live._check()


TestEveryEngine = EveryEngine.TestCase
TestEveryEngine.settings = settings(max_examples=50, stateful_step_count=25, deadline=None)
