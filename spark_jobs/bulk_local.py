"""What a Python worker does for a bulk skyline: the skyline of its own rows, in Arrow batches.

Only this module is needed by the workers, with skyline.batch behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from skyline.batch import grouped_skyline_of, skyband_of
from skyline.view import Floats, Ints

BUFFER: Final = 1 << 18
"""Rows that are collected before dominated ones are dropped: a few megabytes, and the kernels' best stride."""

BUFFER_BYTES: Final = 128 << 20
"""The same for wide rows, of which so many would fill a worker's memory: their other columns travel with them."""

_CHUNK: Final = 1 << 16

Batches = Iterable[pa.RecordBatch]
Task = Callable[[Batches], Iterator[pa.RecordBatch]]


def local_skyline(point: list[str], diff: list[str], k: int) -> Task:
    """A function for mapInArrow: the rows of a task that fewer than k of its rows (of the same group) dominate.

    point: columns of the normalised point. Memory: the task's own members, and as many rows again, but up to 256K or
    128 MB at least. One thread: Spark gives a task one core.
    """

    def kept(held: list[pa.RecordBatch]) -> pa.Table:
        table = pa.Table.from_batches(held).combine_chunks()
        points = points_of(table, point)
        if diff:
            rows = grouped_skyline_of(points, labels_of(table, diff), k=k, threads=1)
        else:
            rows = skyband_of(points, k, threads=1)
        return table if len(rows) == table.num_rows else table.take(pa.array(rows))

    def task(batches: Batches) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        rows, limit = 0, BUFFER
        size, room = 0, BUFFER_BYTES
        for batch in batches:
            held.append(batch)
            rows += batch.num_rows
            size += batch.nbytes
            if rows >= limit or size >= room:
                held = kept(held).to_batches()
                rows, size = (sum(getattr(part, what) for part in held) for what in ("num_rows", "nbytes"))
                limit, room = max(BUFFER, 2 * rows), max(BUFFER_BYTES, 2 * size)
        if rows:
            yield from kept(held).combine_chunks().to_batches(_CHUNK)

    return task


def points_of(table: pa.Table, names: list[str]) -> Floats:
    points = np.empty((table.num_rows, len(names)))
    for axis, name in enumerate(names):
        points[:, axis] = table.column(name).to_numpy()
    return points


def labels_of(table: pa.Table, names: list[str]) -> Ints:
    """Numbers that tell the groups apart; null is a value like any other."""
    labels = np.zeros(table.num_rows, np.int64)
    for name in names:
        codes = _codes(table.column(name))
        labels = np.unique(labels, return_inverse=True)[1] * (codes.max(initial=0) + 1) + codes
    return labels


def _codes(column: Any) -> Ints:
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    codes: Ints = np.concatenate([chunk.indices.to_numpy().astype(np.int64) for chunk in chunks])
    return codes
