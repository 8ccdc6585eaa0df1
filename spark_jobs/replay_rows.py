"""The records of a slice as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skyline.view import Bools, Floats, Ints

Members = dict[str, tuple[str, tuple[float, ...]]]
"""Every member's label (the JSON of its group fields) and point, by key."""


@dataclass(frozen=True)
class Rows:
    """n records in the order of the log; `keys[i]` is "" for a record of nobody, whose time alone counts."""

    keys: list[str]
    labels: list[str]
    points: Floats
    deleted: Bools
    valid_from: Ints
    valid_until: Ints
    clocks: Ints
    snapshots: Ints

    @classmethod
    def of(cls, table: pa.Table, dimensions: int) -> Rows:
        def numbers(name: str) -> Ints:
            # copied: Arrow's own arrays cannot be written to, and numba would compile every kernel again for such
            return np.array(table.column(name).fill_null(0).to_numpy(), np.int64)

        points = [table.column(f"x{axis}").fill_null(0.0).to_numpy() for axis in range(dimensions)]
        return cls(
            table.column("key").fill_null("").to_pylist(),
            table.column("label").fill_null("").to_pylist(),
            np.stack(points, axis=1, out=np.empty((table.num_rows, dimensions))),
            ~np.asarray(table.column("held").to_numpy(), np.bool_),
            numbers("valid_from"),
            numbers("valid_until"),
            numbers("clock"),
            numbers("snapshot"),
        )

    def __len__(self) -> int:
        return len(self.keys)

    def part(self, begin: int, end: int) -> Rows:
        """Rows begin to end."""
        return Rows(
            self.keys[begin:end],
            self.labels[begin:end],
            self.points[begin:end],
            self.deleted[begin:end],
            self.valid_from[begin:end],
            self.valid_until[begin:end],
            self.clocks[begin:end],
            self.snapshots[begin:end],
        )
