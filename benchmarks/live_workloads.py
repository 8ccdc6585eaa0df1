"""The workloads of the live engines: ESC's random walk, LookOut's intervals, a walk that is hard, and ties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from benchmarks.datasets import anticorrelated, independent
from skyline.live import Changes, Skyline
from skyline.live.engine import State
from skyline.view import Floats, Ints

SPAN: Final = 100_000
"""LookOut's time: arrivals are uniform in [0, SPAN), expiries uniform in what is left of it."""
SPEED: Final = 5.0
"""Standard deviation of a walker's velocity by dimension, per time step, in a space of [0, 1000]."""
LEG: Final = 10
"""Time steps, on average, between two changes of a walker's velocity."""


@dataclass(frozen=True)
class Log:
    """Objects that are there at the start, and rows that come after."""

    name: str
    start: Floats
    keys: Sequence[Any] | Ints
    points: Floats
    valid_until: Ints | None = None
    at: Ints | None = None

    @property
    def dimensions(self) -> int:
        return int(self.points.shape[1])

    def state(self) -> State:
        """The objects of the start, in a skyline of their own kind of keys, dumped."""
        live = skyline(self.dimensions)
        names = range(len(self.start))
        if len(self.start):
            live.apply(
                list(map(_text, names)) if isinstance(self.keys, list) else np.arange(len(self.start)), self.start
            )
        return live.dump()

    def apply(self, live: Skyline, first: int = 0, last: int | None = None) -> Changes:
        rows = slice(first, len(self.keys) if last is None else last)
        until = None if self.valid_until is None else self.valid_until[rows]
        return live.apply(
            self.keys[rows], self.points[rows], valid_until=until, at=None if self.at is None else self.at[rows]
        )

    def with_text_keys(self) -> Log:
        return replace(
            self, name=f"{self.name}, text keys", keys=[_text(key) for key in np.asarray(self.keys).tolist()]
        )


def skyline(dimensions: int, engine: str = "forest", **options: Any) -> Skyline:
    return Skyline({f"d{i}": "min" for i in range(dimensions)}, engine=engine, **options)


def walk(objects: int, dimensions: int, percent: int, updates: int) -> Log:
    """ESC's: normal in [0, 1000]^d; velocities change now and then, `percent` of the objects report per step."""
    rng = np.random.default_rng([objects, dimensions, percent])
    start = rng.normal(500, 150, (objects, dimensions)).clip(0, 1000)
    return _walked(
        f"esc, {objects:,} objects, {dimensions}-D, {percent} % per step", start, SPEED, 1000, percent, updates
    )


def hard_walk(objects: int, dimensions: int, updates: int) -> Log:
    """Anti-correlated objects that walk by as much, in proportion, as ESC's: thousands of members that come and go."""
    start = anticorrelated(objects, dimensions)
    return _walked(f"anti, {objects:,} objects, {dimensions}-D", start, SPEED / 1000, 1, 10, updates)


def ties(objects: int, updates: int) -> Log:
    """4-D objects, all of them members, that jump between 125 points: what ratings and whole numbers look like."""
    rng = np.random.default_rng(objects)
    points = rng.integers(0, 5, (objects + updates, 4)).astype(float)
    points[:, 3] = 12 - points[:, :3].sum(axis=1)
    keys = rng.integers(0, objects, updates)
    return Log(f"ties, {objects:,} objects, 4-D, 125 points", points[:objects], keys, points[objects:])


def intervals(kind: str, objects: int, dimensions: int) -> Log:
    """LookOut's: every object arrives, and every one expires. `kind` is independent or anti-correlated."""
    draw: Callable[[int, int], Floats] = independent if kind == "independent" else anticorrelated
    rng = np.random.default_rng([objects, dimensions])
    at = np.sort(rng.integers(0, SPAN, objects))
    until = rng.integers(at, SPAN)
    name = f"lookout, {objects:,} objects, {dimensions}-D {kind}"
    return Log(name, np.zeros((0, dimensions)), np.arange(objects), draw(objects, dimensions), until, at)


def _walked(name: str, start: Floats, speed: float, size: float, percent: int, updates: int) -> Log:
    rng = np.random.default_rng(len(start) + percent)
    objects, dimensions = start.shape
    places, seen = start.copy(), np.zeros(objects, np.int64)
    velocity = rng.normal(0, speed, start.shape)
    keys, points, step, made = [], [], 0, 0
    while made < updates:
        step += 1
        turning = np.flatnonzero(rng.random(objects) < 1 / LEG)
        velocity[turning] = rng.normal(0, speed, (len(turning), dimensions))
        reporting = rng.permutation(objects)[: min(max(1, objects * percent // 100), updates - made)]
        away = (step - seen[reporting])[:, None]
        places[reporting] = (places[reporting] + velocity[reporting] * away).clip(0, size)
        seen[reporting] = step
        keys.append(reporting)
        points.append(places[reporting].copy())
        made += len(reporting)
    return Log(name, start, np.concatenate(keys), np.concatenate(points))


def _text(key: int) -> str:
    return f"object-{key:07d}"
