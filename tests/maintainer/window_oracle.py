"""What a window view should publish, by definition: from tests/naive.py, record by record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skyline.view import View
from skyline.wire.rejects import Rejected
from skyline.wire.updates import Tick, read_update
from tests.naive import Point
from tests.window import oracle

Row = tuple[bytes | None, bytes | None, int]
Told = tuple[str, str, str, str, int, int]
"""op, key, reason, by, at, offset"""


@dataclass
class Stream:
    """The elements that updates bring: what they are called, when they came, at which offset; and the clock."""

    keys: list[str]
    points: list[Point]
    times: list[int]
    offsets: list[int]
    clocks: list[int]

    @property
    def timed(self) -> list[tuple[int, Point]]:
        return list(zip(self.times, self.points, strict=True))


def stream_of(view: View, rows: Sequence[Row]) -> Stream:
    """Offsets count from 0: the rows must be all that is on the topic, one by one."""
    stream = Stream([], [], [], [], [])
    clock = -(2**61)
    for offset, (key, value, at) in enumerate(rows):
        clock = max(clock, at)
        stream.clocks.append(clock)
        result = read_update(view, key, value)
        if isinstance(result, Rejected) or isinstance(result[1], Tick):
            continue
        name, update = result
        stream.keys.append(f"{name}@{offset}" if name else str(offset))
        stream.points.append(tuple(view.dimensions.inward([update.point])[0].tolist()))  # type: ignore[union-attr]
        stream.times.append(clock)
        stream.offsets.append(offset)
    return stream


def members(view: View, rows: Sequence[Row], n: int) -> list[str]:
    """Keys of the skyline of the newest n after these updates, in order of arrival."""
    stream = stream_of(view, rows)
    assert view.window is not None
    if view.window.size is not None:
        timed, now = [(row, point) for row, point in enumerate(stream.points)], len(stream.points) - 1
    else:
        timed, now = stream.timed, stream.clocks[-1]
    return [stream.keys[position] for position in oracle.stretch(timed, now, 1, n)]


def changes(view: View, rows: Sequence[Row], n: int) -> list[Told]:
    """Every change of the skyline of the newest n: what `V.changes` should say."""
    stream = stream_of(view, rows)
    assert view.window is not None
    if view.window.size is not None:
        log = oracle.changes_by_size(stream.points, 1, n)
    else:
        log = oracle.changes_by_span(stream.timed, 1, n, stream.clocks[-1])
    told: list[Told] = []
    for op, position, reason, by, row, at in log:
        if view.window.size is not None:
            at, offset = stream.times[row], stream.offsets[row]
        elif reason in ("inserted", "dominated"):
            offset = stream.offsets[row]
        else:  # with the first record that let the time pass
            offset = next(i for i, clock in enumerate(stream.clocks) if clock >= at)
        told.append((op, stream.keys[position], reason, stream.keys[by], at, offset))
    return told
