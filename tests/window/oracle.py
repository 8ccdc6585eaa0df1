"""What tests of windows compare with: tests/naive.py, extended to time, to stretches, and to logs of changes.

Points are normalised. A stream by span is a list of (time, point), times never falling.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tests import naive
from tests.naive import Point

Change = tuple[str, int, str, int, int, int]
"""op, position, reason, by, row, at"""
Timed = Sequence[tuple[int, Point]]


def fast_skyline(points: npt.NDArray[np.float64]) -> list[int]:
    """naive.skyline for a few thousand points: the same definition, a row against all at a time."""
    return [
        row
        for row, point in enumerate(points)
        if not ((points <= point).all(axis=1) & (points < point).any(axis=1)).any()
    ]


def stretch(stream: Timed, now: int, n1: int, n2: int) -> list[int]:
    """Positions of the skyline of the elements that are n1 - 1 to n2 - 1 milliseconds old."""
    rows = [row for row, (time, _) in enumerate(stream) if now - n2 < time <= now - n1 + 1]
    return [rows[i] for i in naive.skyline([stream[row][1] for row in rows])]


def changes_by_size(stream: Sequence[Point], n1: int, n2: int) -> list[Change]:
    """Every change of between(n1, n2) while the stream arrives, by comparing answers before and after each element."""
    log: list[Change] = []
    for row in range(len(stream)):
        before = set(naive.between_skyline(stream[:row], n1, n2))
        after = set(naive.between_skyline(stream[: row + 1], n1, n2))
        expired, arrived = row - n2, row + 1 - n1
        for position in sorted(before - after):
            gone = position == expired
            log.append(("leave", position, "expired" if gone else "dominated", position if gone else arrived, row, 0))
        for position in sorted(after - before):
            new = position == arrived
            log.append(("enter", position, "inserted" if new else "promoted", position if new else expired, row, 0))
    return log


def changes_by_span(stream: Timed, n1: int, n2: int, now: int, told: Sequence[tuple[int, int]] = ()) -> list[Change]:
    """Every change of between(n1, n2) up to time `now`: each arrival and each instant of expiry by itself.

    An element comes n1 - 1 after its time and goes n2 after it. `row` is the first element that let time pass so far,
    or -1 if the clock had been told before: `told` are (number of elements before, time).
    """
    log: list[Change] = []
    comes = [time + n1 - 1 for time, _ in stream]
    goes = [time + n2 for time, _ in stream]
    instants = sorted({(at, 0) for at in goes} | {(at, 1 + row) for row, at in enumerate(comes)})
    inside: list[int] = []
    for at, what in instants:
        if at > now:
            break
        before = _members(stream, inside)
        cause = next((row for row, (time, _) in enumerate(stream) if time >= at), len(stream))
        if cause == len(stream) or any(before <= cause and time >= at for before, time in told):
            cause = -1
        if what == 0:
            expired = [row for row in inside if goes[row] == at]
            inside = [row for row in inside if goes[row] != at]
            entering = {row: _critical_dominator(stream, expired, row) for row in _members(stream, inside) - before}
            for gone in expired:
                if gone in before:
                    log.append(("leave", gone, "expired", gone, cause, at))
                    log += [
                        ("enter", row, "promoted", gone, cause, at) for row in sorted(entering) if entering[row] == gone
                    ]
        else:
            new = what - 1
            inside = [*inside, new]
            after = _members(stream, inside)
            cause = new if n1 == 1 else cause
            log += [("leave", row, "dominated", new, cause, at) for row in sorted(before - after)]
            log += [("enter", row, "inserted", new, cause, at) for row in sorted(after - before)]
    return log


def _members(stream: Timed, inside: Sequence[int]) -> set[int]:
    return {inside[i] for i in naive.skyline([stream[row][1] for row in inside])}


def _critical_dominator(stream: Timed, expired: Sequence[int], row: int) -> int:
    """The youngest of the expired that dominate the row, but for those that an older one of their instant dominates."""
    return max(
        other
        for other in expired
        if naive.dominates(stream[other][1], stream[row][1])
        and not any(naive.dominates(stream[o][1], stream[other][1]) for o in expired if o < other)
    )
