"""What happened to a standing query: one change after the other, in columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyline.view import Ints
from skyline.window.layout import DOMINATED, E_AT, E_BY, E_CAUSE, E_POSITION, E_REASON, EXPIRED, INSERTED, PROMOTED

Codes = npt.NDArray[np.int8]

LEAVE: Final = 0
ENTER: Final = 2
OPS: Final = {LEAVE: "leave", ENTER: "enter"}
REASONS: Final = {INSERTED: "inserted", PROMOTED: "promoted", DOMINATED: "dominated", EXPIRED: "expired"}
"""Codes and names are those of skyline.live."""


class WindowChange(NamedTuple):
    """One change: `position` entered or left.

    `by` is the position whose arrival (inserted: its own; dominated) or expiry (expired: its own; promoted) this is;
    `row` the appended element, counted since the log was last read, before which or with which it took effect, or -1
    where only the clock was advanced; `at` the event time at which it took effect; `size` the members after it.
    """

    op: str
    position: int
    reason: str
    by: int
    row: int
    at: int
    size: int


class WindowChanges:
    """Changes in order, as arrays of one length; iterating yields `WindowChange`."""

    __slots__ = ("at", "by", "ops", "positions", "reasons", "rows", "sizes")

    def __init__(self, events: Ints, first: int, size: int) -> None:
        """`events` as the kernels wrote them; `first` the position of row 0; `size` the members before."""
        self.reasons: Codes = events[:, E_REASON].astype(np.int8)
        self.ops: Codes = np.where(self.reasons <= PROMOTED, ENTER, LEAVE).astype(np.int8)
        self.positions: Ints = events[:, E_POSITION].copy()
        self.by: Ints = events[:, E_BY].copy()
        self.at: Ints = events[:, E_AT].copy()
        cause = events[:, E_CAUSE]
        self.rows: Ints = np.where(cause >= 0, cause - first, -1)
        self.sizes: Ints = size + np.cumsum(np.where(self.ops == ENTER, 1, -1), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.ops)

    def __iter__(self) -> Iterator[WindowChange]:
        columns = (self.ops, self.positions, self.reasons, self.by, self.rows, self.at, self.sizes)
        for op, position, reason, by, row, at, size in zip(*(column.tolist() for column in columns), strict=True):
            yield WindowChange(OPS[op], position, REASONS[reason], by, row, at, size)

    def __repr__(self) -> str:
        enters = int((self.ops == ENTER).sum())
        return f"<{len(self)} changes: {len(self) - enters} leave, {enters} enter>"
