"""What a workload is asked for, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from skyline.view import View

Row = tuple[bytes | None, bytes | None, int]
"""Key, value and event time of an update."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Update n happens at `start` + n * `step` milliseconds. The same plan gives the same updates."""

    view: View
    seed: int
    start: int
    step: float
    objects: int = 1000
    groups: int = 3
    """Values that each group field takes."""
    distribution: str = ""
    """One of points.DISTRIBUTIONS, or empty for the workload's own."""

    def at(self, number: int) -> int:
        return self.start + int(number * self.step)


Workload = Callable[[Plan], Iterator[Row]]
"""Endless updates."""
