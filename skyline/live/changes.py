"""What an update did to the skyline: raw columns from an engine, and the `Changes` that callers read."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyline.view import Floats, Ints

Key = int | str | bytes
Codes = npt.NDArray[np.int8]

LEAVE: Final = 0
MOVE: Final = 1
ENTER: Final = 2
OPS: Final = ("leave", "move", "enter")
"""Names of the op codes. Their order is the canonical order of the changes of one update."""

INSERTED: Final = 0
MOVED: Final = 1
PROMOTED: Final = 2
DOMINATED: Final = 3
DELETED: Final = 4
EXPIRED: Final = 5
REASONS: Final = ("inserted", "moved", "promoted", "dominated", "deleted", "expired")


class Change(NamedTuple):
    """One change of the skyline. `point` is as given by the caller; of a leaving object, the one it was a member with.

    `by` is the object whose arrival, move, departure or expiry this is; `row` the row of the batch, or -1 where only
    the clock was advanced; `at` the event time at which it took effect.
    """

    op: str
    key: Key
    point: tuple[float, ...]
    reason: str
    by: Key
    row: int
    at: int


@dataclass(frozen=True)
class Columns:
    """Changes as an engine gives them: m changes in canonical order, points inward (smaller is better).

    `groups` is the group whose skyline changed; of a move, the group the object is in now. `gone` lists every slot
    that became absent on the way, `emptied` every group that lost its last object; both may repeat themselves, and
    some may have come back since.
    """

    rows: Ints
    ops: Codes
    slots: Ints
    reasons: Codes
    by_slots: Ints
    at: Ints
    groups: Ints
    points: Floats
    sizes: Ints
    gone: Ints
    emptied: Ints


class Changes:
    """The changes of one `apply` or `advance`, in order; iterating yields `Change`.

    The columns are there for callers who handle many: arrays of length m (`points` is (m, d), as given) and lists of
    keys. A `Changes` keeps its own copies and stays valid, whatever is applied later.

    ops, reasons   int8 codes, see `OPS` and `REASONS`
    keys, by       lists of keys
    groups         list of group labels: the group whose skyline changed
    slots, by_slots, row_slots
                   integers that stand for keys; `row_slots` are those of the batch's rows, -1 for a deletion of an
                   unknown key. A slot means the same key until it is listed in `freed`.
    freed          slots whose objects are gone for good; from the next batch on they may stand for other keys
    rows, at       row of the batch (-1: from `advance`) and event time of each change
    sizes          number of members, over all groups, after each change
    """

    __slots__ = (
        "at", "by", "by_slots", "freed", "groups", "keys", "ops", "points", "reasons", "row_slots", "rows", "sizes",
        "slots",
    )  # fmt: skip

    def __init__(
        self,
        columns: Columns,
        points: Floats,
        keys: list[Key],
        by: list[Key],
        groups: list[Hashable],
        row_slots: Ints,
        freed: Ints,
    ) -> None:
        self.ops = columns.ops
        self.reasons = columns.reasons
        self.slots = columns.slots
        self.by_slots = columns.by_slots
        self.rows = columns.rows
        self.at = columns.at
        self.sizes = columns.sizes
        self.points = points
        self.keys = keys
        self.by = by
        self.groups = groups
        self.row_slots = row_slots
        self.freed = freed

    def __len__(self) -> int:
        return len(self.ops)

    def __iter__(self) -> Iterator[Change]:
        columns = (self.ops, self.points, self.reasons, self.rows, self.at)
        ops, points, reasons, rows, at = (column.tolist() for column in columns)
        for i, key in enumerate(self.keys):
            yield Change(OPS[ops[i]], key, tuple(points[i]), REASONS[reasons[i]], self.by[i], rows[i], at[i])

    def __repr__(self) -> str:
        leaves, moves, enters = (int((self.ops == op).sum()) for op in (LEAVE, MOVE, ENTER))
        return f"<{len(self)} changes: {leaves} leave, {moves} move, {enters} enter>"
