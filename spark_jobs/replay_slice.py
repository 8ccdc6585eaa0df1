"""What a Python worker does for a replay: a slice of snapshots from its base on, with the engine of choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from spark_jobs.replay_boxes import Boxes
from spark_jobs.replay_forest import Forest
from spark_jobs.replay_rows import Members, Rows

_CHUNK: Final = 1 << 14

ENGINES: Final = ("forest", "boxes")
"""forest: the live engine. boxes: SnapshotSkyline, the 2014 paper's method."""


class Engine(Protocol):
    """Keeps the skyline from one snapshot to the next."""

    def advance(self, rows: Rows, at: int) -> Members:
        """Applies the records since the snapshot before, in order, and gives the members as of `at`."""
        ...


def slice_skylines(
    directions: Sequence[str], starts: list[int], past: int, period: int | None, engine: str
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for mapInArrow: the members at every snapshot of the slices that a task has.

    starts: first snapshot of every slice; past: the snapshot after the last one. Rows come by slice, then by offset;
    those before a slice's first snapshot are its base. Without a period, the last row of a snapshot says its time.
    """

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(list(batches))
        if not table.num_rows:
            return
        numbers = table.column("slice").to_numpy()
        for number in np.unique(numbers).tolist():
            low, high = np.searchsorted(numbers, [number, number + 1])
            rows = Rows.of(table.slice(low, high - low), len(directions))
            last = starts[number] if number < len(starts) else past
            made: Engine = Forest(directions) if engine == "forest" else Boxes(directions, rows)
            yield from _written(_snapshots(made, rows, starts[number - 1], last, period))

    return task


def _snapshots(
    engine: Engine, rows: Rows, first: int, past: int, period: int | None
) -> Iterator[tuple[int, int, Members]]:
    """(snapshot, time, members) of every snapshot from `first` on, before `past`."""
    cuts = np.searchsorted(rows.snapshots, np.arange(first, past), side="right").tolist()
    begin, at = 0, 0
    for number, end in zip(range(first, past), cuts, strict=True):
        if period is not None:
            at = number * period
        elif end > begin:
            at = int(rows.clocks[end - 1])
        yield number, at, engine.advance(rows.part(begin, end), at)
        begin = end


def _written(snapshots: Iterator[tuple[int, int, Members]]) -> Iterator[pa.RecordBatch]:
    held: list[tuple[int, int, str, str, tuple[float, ...]]] = []
    for number, at, members in snapshots:
        held += [(number, at, key, label, point) for key, (label, point) in members.items()]
        if len(held) >= _CHUNK:
            yield _batch(held)
            held = []
    if held:
        yield _batch(held)


def _batch(held: list[tuple[int, int, str, str, tuple[float, ...]]]) -> pa.RecordBatch:
    numbers, times, keys, labels, points = zip(*held, strict=True)
    kinds: list[tuple[Any, Any]] = [
        (numbers, pa.int64()), (times, pa.int64()), (keys, pa.string()), (labels, pa.string()),
        (points, pa.list_(pa.float64())),
    ]  # fmt: skip
    arrays = [pa.array(list(values), kind) for values, kind in kinds]
    return pa.RecordBatch.from_arrays(arrays, ["snapshot", "at", "key", "label", "point"])
