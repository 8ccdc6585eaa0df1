"""A batch of Kafka records as flat arrays: no Python object per record.

`Records` is what the runtime's drain fills and what the decoders read. Keys and values lie end to end in one byte
array each; `bounds[i]:bounds[i + 1]` is record i's stretch. A null key or value is flagged and empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyline.view import Bools, Ints

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Records:
    """n records of one partition, in offset order."""

    keys: Bytes
    key_bounds: Ints
    key_null: Bools
    values: Bytes
    value_bounds: Ints
    value_null: Bools
    timestamps: Ints
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets)

    def key(self, row: int) -> bytes | None:
        return None if self.key_null[row] else self.keys[self.key_bounds[row] : self.key_bounds[row + 1]].tobytes()

    def value(self, row: int) -> bytes | None:
        if self.value_null[row]:
            return None
        return self.values[self.value_bounds[row] : self.value_bounds[row + 1]].tobytes()

    def slice(self, start: int, stop: int) -> Records:
        """Rows start to stop, without copying."""
        return Records(
            self.keys,
            self.key_bounds[start : stop + 1],
            self.key_null[start:stop],
            self.values,
            self.value_bounds[start : stop + 1],
            self.value_null[start:stop],
            self.timestamps[start:stop],
            self.offsets[start:stop],
        )

    @classmethod
    def joined(cls, parts: Sequence[Records]) -> Records:
        """The records of several batches as one, in order. O(total bytes)."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            *_concatenated([part.keys for part in parts], [part.key_bounds for part in parts]),
            np.concatenate([part.key_null for part in parts]),
            *_concatenated([part.values for part in parts], [part.value_bounds for part in parts]),
            np.concatenate([part.value_null for part in parts]),
            np.concatenate([part.timestamps for part in parts]),
            np.concatenate([part.offsets for part in parts]),
        )

    @classmethod
    def of(cls, rows: Sequence[tuple[bytes | None, bytes | None, int, int]]) -> Records:
        """Records from (key, value, timestamp, offset) tuples. O(total bytes)."""
        keys, key_bounds, key_null = _joined([row[0] for row in rows])
        values, value_bounds, value_null = _joined([row[1] for row in rows])
        timestamps = np.array([row[2] for row in rows], dtype=np.int64)
        offsets = np.array([row[3] for row in rows], dtype=np.int64)
        return cls(keys, key_bounds, key_null, values, value_bounds, value_null, timestamps, offsets)


def _joined(parts: list[bytes | None]) -> tuple[Bytes, Ints, Bools]:
    bounds = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part or b"") for part in parts], out=bounds[1:])
    # writable, as what the drain gives: kernels are compiled for one kind of array then, not for two
    blob = np.frombuffer(bytearray(b"".join(part or b"" for part in parts)), dtype=np.uint8)
    return blob, bounds, np.array([part is None for part in parts], dtype=np.bool_)


def _concatenated(blobs: list[Bytes], bounds: list[Ints]) -> tuple[Bytes, Ints]:
    """Stretches of several byte arrays end to end in one. A slice's blob has more than its bounds tell of."""
    blob = np.concatenate([blob[place[0] : place[-1]] for blob, place in zip(blobs, bounds, strict=True)])
    lengths = np.concatenate([np.diff(place) for place in bounds])
    return blob, np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
