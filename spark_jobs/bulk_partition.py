"""How rows are dealt to tasks before their local skylines: at random, by a grid, or by angle.

random  every task gets a fair share of everything: local skylines are as small as the data allow
grid    cells of equal weight: a task whose cell lies far from the origin has little that matters
angle   wedges seen from the best corner: every wedge has its share of the skyline (Vlachou et al., 2008)

Cells are cut at quantiles of all rows, which Spark estimates in a pass of its own: whoever deals rows anew has a table
that is sorted or skewed, and a sample of its first rows knows only one end of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Final

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.bulk_columns import PREFIX, Columns

PARTITIONING: Final = ("none", "random", "grid", "angle")
_ACCURACY: Final = 1000
"""Quantiles are right to a thousandth of the rows."""


def deal(rows: DataFrame, kind: str, columns: Columns, tasks: int) -> DataFrame:
    """The rows in `tasks` partitions; "none" leaves them where they are, which spares a shuffle.

    rows: with the normalised point. "grid" reads them once more, "angle" twice.
    """
    if kind == "none":
        return rows
    if kind == "random":
        return rows.repartition(tasks)
    return rows.repartition(tasks, cell(rows, kind, columns, tasks).alias(f"{PREFIX}cell"))


def cell(rows: DataFrame, kind: str, columns: Columns, tasks: int) -> Column:
    """The number of the cell of the grid, or the wedge, that a row falls into."""
    coordinates = [F.col(name) for name in columns.names]
    if kind == "angle" and len(coordinates) > 1:
        coordinates = _angles(coordinates, _corner(rows, coordinates))
    return _cell(rows, coordinates, tasks)


def _cell(rows: DataFrame, coordinates: Sequence[Column], tasks: int) -> Column:
    """Cells that hold about as many rows each along every axis."""
    parts = max(2, round(tasks ** (1 / len(coordinates))))
    # more cells than a few per task only split what one task does best
    used = [coordinate for axis, coordinate in enumerate(coordinates) if parts**axis < 4 * tasks]
    shares = F.array(*[F.lit(share) for share in np.linspace(0, 1, parts + 1)[1:-1].tolist()])
    quantiles = rows.agg(*[F.percentile_approx(coordinate, shares, _ACCURACY) for coordinate in used]).first()
    number = F.lit(0)
    for coordinate, cuts in zip(used, quantiles or (), strict=True):
        passed = [(coordinate > cut).cast("int") for cut in sorted(set(cuts or ()))]
        number = number * parts + reduce(add, passed, F.lit(0))
    return number


def _corner(rows: DataFrame, coordinates: Sequence[Column]) -> list[float]:
    """The best value on every axis, infinities aside; 0 where there is none."""
    lowest = rows.agg(*[F.min(F.when(F.abs(x) < np.inf, x)) for x in coordinates]).first()
    return [0.0 if low is None else float(low) for low in lowest or ()]


def _angles(coordinates: Sequence[Column], corner: Sequence[float]) -> list[Column]:
    """The hyperspherical angles of a row, seen from `corner`: d - 1 of them."""
    shifted = [F.greatest(x - low, F.lit(0.0)) for x, low in zip(coordinates, corner, strict=True)]
    angles = []
    for axis in range(len(shifted) - 1):
        rest = F.sqrt(reduce(add, [x * x for x in shifted[axis + 1 :]]))
        angles.append(F.atan2(rest, shifted[axis]))
    return angles
