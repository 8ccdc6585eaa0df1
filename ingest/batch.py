"""Updates on their way to a topic, as columns of Python objects: what every source makes and the publisher sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from skyline.wire.rejects import Rejected

ROWS: Final = 10_000
"""Updates per batch: enough to spread the cost of a pass over many, few enough to be sent within milliseconds."""


@dataclass(frozen=True, slots=True)
class Batch:
    """n updates in order. `timestamps` are event times in milliseconds.

    `places` says where each one stands in its source (a line, a row, an index), for messages. `problems` holds what
    the source itself could not read, by index into the batch; key and value of such a row mean nothing.
    """

    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    timestamps: Sequence[int]
    places: Sequence[int] = ()
    problems: Mapping[int, Rejected] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, rows: slice) -> Batch:
        """Some rows in order, without the problems."""
        return Batch(self.keys[rows], self.values[rows], self.timestamps[rows], self.places[rows])

    def only(self, rows: Sequence[int]) -> Batch:
        """The rows at these indices, without the problems."""
        return Batch(
            [self.keys[row] for row in rows],
            [self.values[row] for row in rows],
            [self.timestamps[row] for row in rows],
            [self.places[row] for row in rows] if self.places else (),
        )

    def size(self) -> int:
        """Bytes of keys and values. O(n)."""
        return sum(map(len, filter(None, self.keys))) + sum(map(len, filter(None, self.values)))
