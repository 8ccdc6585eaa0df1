"""A sample of the rows, and the strong points in it that spare most rows the way to Python.

Strong points are rows themselves, so whatever k of them dominate is no member, wherever it lies. The test runs in the
JVM, as part of the scan: of independent rows a few in a hundred are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import isfinite
from operator import and_
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyline.batch import strong_points
from skyline.view import Floats
from spark_jobs.bulk_columns import PREFIX, Columns
from spark_jobs.bulk_local import labels_of, points_of

SIZE: Final = 1 << 14
"""Rows that are sampled: of independent 4-D rows the strong points then leave 4.6 %, with four times as many 4.1 %."""

_STRONG: Final = 8
"""Strong points at most. Each is code in the scan, and beyond some 8,000 bytes the JVM no longer compiles its loop."""


@dataclass(frozen=True)
class Sample:
    """Some rows: their normalised points (n, d) and their group columns."""

    points: Floats
    groups: pa.Table

    @classmethod
    def of(cls, rows: DataFrame, columns: Columns, size: int = SIZE) -> Sample:
        """The first rows of some partitions; no task reads more than these. Which ones decides the speed only."""
        narrow = columns.admitted(rows).select(*columns.names, *columns.diff)
        table = narrow.limit(size).toArrow()
        return cls(points_of(table, columns.names), table.select(list(columns.diff)))


def undominated(sample: Sample, columns: Columns, k: int) -> str:
    """The condition, in SQL, that fewer than k strong points of the sample dominate a row."""
    strong = strong_points(sample.points, _STRONG, k=k).tolist() if len(sample.points) else []
    tests = [_dominated_by([_double(value) for value in point], columns) for point in strong]
    if len(tests) < k:
        return "true"
    if k == 1:
        return f"NOT ({' OR '.join(tests)})"
    return f"{' + '.join(f'CAST({test} AS INT)' for test in tests)} < {k}"


def without_weak(rows: DataFrame, sample: Sample, columns: Columns) -> DataFrame:
    """Rows that the best point of their own group in the sample does not dominate. One broadcast join."""
    best = _best_of_groups(sample, columns)
    groups = rows.sparkSession.createDataFrame(best)
    same = [F.col(name).eqNullSafe(F.col(f"{PREFIX}{name}")) for name in columns.diff]
    strong = [f"{name}s" for name in columns.names]
    joined = rows.join(F.broadcast(groups), reduce(and_, same), "left")
    kept = joined.where(f"{strong[0]} IS NULL OR NOT {_dominated_by(strong, columns)}")
    return kept.select(*rows.columns)


def _dominated_by(strong: list[str], columns: Columns) -> str:
    no_better = " AND ".join(f"{ours} >= {theirs}" for ours, theirs in zip(columns.names, strong, strict=True))
    worse = " OR ".join(f"{ours} > {theirs}" for ours, theirs in zip(columns.names, strong, strict=True))
    return f"({no_better} AND ({worse}))"


def _double(value: float) -> str:
    """A double in SQL, exactly."""
    return f"{value!r}D" if isfinite(value) else f"double('{value}')"


def _best_of_groups(sample: Sample, columns: Columns) -> pa.Table:
    """One row per group of the sample: its point of the lowest rank, summed over the dimensions."""
    ranks = np.argsort(np.argsort(sample.points, axis=0), axis=0).sum(axis=1)
    labels = labels_of(sample.groups, list(columns.diff))
    order = np.lexsort((ranks, labels))
    first = order[np.diff(labels[order], prepend=labels.min() - 1) > 0]
    table = sample.groups.take(pa.array(first)).rename_columns([f"{PREFIX}{name}" for name in columns.diff])
    for axis, name in enumerate(columns.names):
        table = table.append_column(f"{name}s", pa.array(sample.points[first, axis]))
    return table
