"""Periods that divide a log into a number of parts that a person can look at."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

PARTS: Final = 120

_NICE: Final = [
    unit * step
    for unit, steps in (
        (1, (1, 2, 5, 10, 20, 50, 100, 200, 500)),
        (1_000, (1, 2, 5, 10, 15, 30)),
        (60_000, (1, 2, 5, 10, 15, 30)),
        (3_600_000, (1, 2, 3, 6, 12)),
        (86_400_000, (1, 2, 7, 14, 28)),
    )
    for step in steps
]
"""Periods that people use, in milliseconds."""


DURATIONS: Final = [
    unit * step
    for unit, steps in (
        (1, (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)),
        (1_000, (1, 2, 5, 10, 30)),
        (60_000, (1, 2, 5, 10, 30)),
        (3_600_000, (1, 2, 5, 12)),
        (86_400_000, (1, 2, 7, 30, 90, 365)),
    )
    for step in steps
]
"""Where classes of durations begin, in milliseconds: about three to a factor of ten, and each has a name."""


def extent(changes: DataFrame) -> tuple[int, int, int]:
    """First and last time of the changes, in milliseconds, and how many there are, which must not be none."""
    row = changes.agg(F.min(F.unix_millis("at")), F.max(F.unix_millis("at")), F.count("*")).first()
    assert row is not None
    return int(row[0]), int(row[1]), int(row[2])


def nice_period(span: int) -> int:
    """A period of which a span of so many milliseconds has about 120 at most.

    >>> nice_period(3_600_000), nice_period(30 * 86_400_000)
    (30000, 21600000)
    """
    return next((period for period in _NICE if period * PARTS >= span), _NICE[-1])
