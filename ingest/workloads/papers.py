"""The papers' workloads, for the dimensions of any view. docs/ingest.md says what was taken from each paper."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from ingest.workloads.plan import Plan, Row
from ingest.workloads.points import draw
from ingest.workloads.values import Writer
from skyline.view import Floats

_CHUNK = 1000
"""Points drawn at a time."""

_UPDATE_RATIO = 0.1
"""ESC: the share of objects that report at a time, 1 to 10 % in the paper."""

_SPEED = 0.05
"""ESC: standard deviation of a velocity, in widths of the space per time in which every object reports once."""

_KEPT = (1.0, 10.0)
"""ESC: a velocity is kept for so many of these times."""

_MOVES = 0.025
"""Snapshots: probability that a value moves from one snapshot to the next."""

_MOVE = 0.005
"""Snapshots: standard deviation of such a move, the paper's 0.5 in a space of 100."""


def esc(plan: Plan) -> Iterator[Row]:
    """Objects that walk: each keeps a velocity for a while, then takes another (Hsueh et al. 2008)."""
    rng = np.random.default_rng(plan.seed)
    writer, width, objects = Writer(plan), len(plan.view.dimensions), plan.objects
    points = draw(plan.distribution or "normal", rng, objects, width)
    times = [plan.at(number) for number in range(objects)]
    yield from writer.rows(range(objects), points, times)
    turn = max(objects * plan.step, 1.0)
    last = np.array(times, dtype=np.float64)
    velocity = rng.normal(0, _SPEED, points.shape)
    kept = last + turn * rng.uniform(*_KEPT, objects)
    size = max(1, round(objects * _UPDATE_RATIO))
    for first in count(objects, size):
        movers = rng.choice(objects, size, replace=False)
        times = [plan.at(first + place) for place in range(size)]
        now = np.array(times, dtype=np.float64)
        way = velocity[movers] * ((now - last[movers]) / turn)[:, None]
        points[movers], last[movers] = _reflected(points[movers] + way), now
        over = movers[kept[movers] < now]
        velocity[over] = rng.normal(0, _SPEED, (len(over), width))
        kept[over] = last[over] + turn * rng.uniform(*_KEPT, len(over))
        yield from writer.rows(movers, points[movers], times)


def lookout(plan: Plan) -> Iterator[Row]:
    """Objects that arrive and expire: departure uniform between arrival and the end of a span (Morse et al. 2006).

    A span has `objects` arrivals; the next one begins when it is over.
    """
    rng = np.random.default_rng(plan.seed)
    writer, width = Writer(plan, expires=True), len(plan.view.dimensions)
    for first in count(0, plan.objects):
        end = plan.at(first + plan.objects)
        points = draw(plan.distribution or "independent", rng, plan.objects, width)
        numbers = range(first, first + plan.objects)
        times = [plan.at(number) for number in numbers]
        until = [
            at + 1 + int(share * max(end - at - 1, 0)) for at, share in zip(times, rng.random(len(times)), strict=True)
        ]
        yield from writer.rows(numbers, points, times, until)


def window(plan: Plan) -> Iterator[Row]:
    """A stream that only grows, for window views (Lin et al. 2005). Elsewhere every element is an object of its own."""
    rng = np.random.default_rng(plan.seed)
    writer, width = Writer(plan), len(plan.view.dimensions)
    for first in count(0, _CHUNK):
        numbers = range(first, first + _CHUNK)
        points = draw(plan.distribution or "independent", rng, _CHUNK, width)
        yield from writer.rows(numbers, points, [plan.at(number) for number in numbers])


def snapshots(plan: Plan) -> Iterator[Row]:
    """Objects whose values take normal steps now and then, many at the same moment (the 2014 paper's SYN)."""
    rng = np.random.default_rng(plan.seed)
    writer, objects = Writer(plan), plan.objects
    points = draw(plan.distribution or "independent", rng, objects, len(plan.view.dimensions))
    yield from writer.rows(range(objects), points, [plan.start] * objects)
    number = objects
    while True:
        moves = rng.random(points.shape) < _MOVES
        points[moves] += rng.normal(0, _MOVE, int(moves.sum()))
        movers = np.flatnonzero(moves.any(axis=1))
        yield from writer.rows(movers, points[movers], [plan.at(number)] * len(movers))
        number += len(movers)


def _reflected(points: Floats) -> Floats:
    """Points that left the unit cube, thrown back from its walls."""
    folded: Floats = 1 - np.abs(1 - np.abs(points) % 2)
    return folded
