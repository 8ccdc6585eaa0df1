"""How rows are dealt to tasks before their local skylines: at random, by a grid, or by angle.

random  every task gets a fair share of everything: local skylines are as small as the data allow
grid    cells of equal weight: a task whose cell lies far from the origin has little that matters
angle   wedges seen from the best corner: every wedge has its share of the skyline (Vlachou et al., 2008)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from skyline.view import Floats
from spark_jobs.bulk_columns import PREFIX, Columns
from spark_jobs.bulk_sample import Sample

PARTITIONING: Final = ("none", "random", "grid", "angle")


def deal(rows: DataFrame, kind: str, columns: Columns, sample: Sample, tasks: int) -> DataFrame:
    """The rows in `tasks` partitions; "none" leaves them where they are, which spares a shuffle."""
    if kind == "none":
        return rows
    if kind == "random" or not len(sample.points):
        return rows.repartition(tasks)
    coordinates = [F.col(name) for name in columns.names]
    points = sample.points
    if kind == "angle" and len(coordinates) > 1:
        corner = points.min(axis=0, initial=np.inf, where=np.isfinite(points))
        corner = np.where(np.isfinite(corner), corner, 0.0)
        coordinates, points = _angles(coordinates, corner), _angles_of(points, corner)
    return rows.repartition(tasks, _cell(coordinates, points, tasks).alias(f"{PREFIX}cell"))


def _cell(coordinates: Sequence[Column], points: Floats, tasks: int) -> Column:
    """The number of the cell that a row falls into; cells hold about as many sampled rows each along every axis."""
    parts = max(2, round(tasks ** (1 / len(coordinates))))
    cell = F.lit(0)
    for axis, coordinate in enumerate(coordinates):
        finite = points[np.isfinite(points[:, axis]), axis]
        if not len(finite) or parts**axis >= 4 * tasks:
            continue
        cuts = np.unique(np.quantile(finite, np.linspace(0, 1, parts + 1)[1:-1]))
        steps = reduce(lambda a, b: a + b, [(coordinate > float(cut)).cast("int") for cut in cuts])
        cell = cell * parts + steps
    return cell


def _angles(coordinates: Sequence[Column], corner: Floats) -> list[Column]:
    """The hyperspherical angles of a row, seen from `corner`: d - 1 of them."""
    shifted = [F.greatest(x - float(low), F.lit(0.0)) for x, low in zip(coordinates, corner, strict=True)]
    angles = []
    for axis in range(len(shifted) - 1):
        rest = F.sqrt(reduce(lambda a, b: a + b, [x * x for x in shifted[axis + 1 :]]))
        angles.append(F.atan2(rest, shifted[axis]))
    return angles


def _angles_of(points: Floats, corner: Floats) -> Floats:
    shifted = np.maximum(points - corner, 0.0)
    rest = np.sqrt(np.cumsum(shifted[:, ::-1] ** 2, axis=1))[:, ::-1]
    return np.stack([np.arctan2(rest[:, axis + 1], shifted[:, axis]) for axis in range(points.shape[1] - 1)], axis=1)
