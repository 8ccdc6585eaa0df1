"""Batches of update records to columns: a kernel for the plain ones, the reference reader for all others."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from skyline.view import NEVER, Bools, Floats, Ints, View
from skyline.wire.plain_kernels import CARRY, DIMENSION, GROUP, INSTANT, read_plain
from skyline.wire.records import Records
from skyline.wire.rejects import Rejected
from skyline.wire.updates import (
    ALWAYS,
    INTERVAL,
    MAX_KEY_BYTES,
    MAX_VALUE_BYTES,
    TICK,
    Modification,
    Tick,
    Update,
    Upsert,
    join_extras,
    read_update,
)

_KERNEL_FIELDS = 64
"""The kernel keeps the fields it has seen in one 64-bit word."""


@dataclass(slots=True)
class Decoded:
    """n records as columns. A row with a reject, a tick or a modification has no meaning in the point columns."""

    records: Records
    keys: list[str]
    points: Floats
    deleted: Bools
    valid_from: Ints
    valid_until: Ints
    groups: list[str] | None
    extras: list[bytes] | None
    ticks: list[int] = field(default_factory=list)
    rejected: dict[int, Rejected] = field(default_factory=dict)
    modifications: dict[int, Modification] = field(default_factory=dict)

    def put(self, row: int, upsert: Upsert) -> None:
        """Writes a record that was read or resolved one by one."""
        self.points[row] = upsert.point
        self.valid_from[row], self.valid_until[row] = upsert.valid_from, upsert.valid_until
        if self.groups is not None:
            self.groups[row] = upsert.group
        if self.extras is not None:
            self.extras[row] = upsert.extras


class UpdateDecoder:
    """Decodes the updates of one view. Holds no state between batches."""

    def __init__(self, view: View) -> None:
        self.view = view
        fields = [(name, DIMENSION) for name in view.dimensions.names] + [(name, INSTANT) for name in INTERVAL]
        fields += [(name, GROUP) for name in view.group_by] + [(name, CARRY) for name in view.carry]
        names = [name.encode() for name, _ in fields]
        self._names = np.frombuffer(b"".join(names), dtype=np.uint8)
        self._bounds = np.cumsum([0, *map(len, names)])
        self._kinds = np.array([kind for _, kind in fields])
        width = len(view.dimensions)
        extras = len(view.group_by) + len(view.carry)
        self._columns = np.array([*range(width), 0, 1, *range(extras)])
        needed = [i for i, kind in enumerate(self._kinds) if kind in (DIMENSION, GROUP)]
        self._required = np.uint64(sum(1 << i for i in needed if i < _KERNEL_FIELDS))
        self._has_kernel = len(fields) <= _KERNEL_FIELDS

    def decode(self, records: Records) -> Decoded:
        """All records as columns, in order. About 0.3 µs for a plain record, 5 µs for any other."""
        rows, view = len(records), self.view
        points = np.zeros((rows, len(view.dimensions)))
        instants = np.empty((rows, 2), dtype=np.int64)
        instants[:, 0], instants[:, 1] = ALWAYS, NEVER
        slices = np.full((rows, len(view.group_by) + len(view.carry), 2), -1, dtype=np.int64)
        plain = self._read_plain(records, points, instants, slices)
        keys = _read_keys(records)
        key_ok = self._good_keys(records)
        plain &= key_ok
        groups, extras = self._read_extras(records, plain, slices)
        deleted = self._deleted(records) & key_ok
        decoded = Decoded(records, keys, points, deleted, instants[:, 0], instants[:, 1], groups, extras)
        for row in np.flatnonzero(~(plain | deleted)).tolist():
            self._read_one(decoded, row)
        return decoded

    def rejects(self, records: Records) -> dict[int, Rejected]:
        """What `decode` would reject, by row, for sources that check before they send. About 0.2 µs a plain record."""
        rows, view = len(records), self.view
        points = np.empty((rows, len(view.dimensions)))
        instants = np.empty((rows, 2), dtype=np.int64)
        instants[:, 0], instants[:, 1] = ALWAYS, NEVER
        slices = np.empty((rows, len(view.group_by) + len(view.carry), 2), dtype=np.int64)
        good = self._read_plain(records, points, instants, slices) | self._deleted(records)
        good &= self._good_keys(records)
        results = {
            row: read_update(view, records.key(row), records.value(row)) for row in np.flatnonzero(~good).tolist()
        }
        return {row: result for row, result in results.items() if isinstance(result, Rejected)}

    def _read_plain(self, records: Records, points: Floats, instants: Ints, slices: Ints) -> Bools:
        if not self._has_kernel:
            return np.zeros(len(records), dtype=np.bool_)
        plain: Bools = read_plain(
            records.values, records.value_bounds, records.value_null, self._names, self._bounds, self._kinds,
            self._columns, self._required, MAX_VALUE_BYTES, points.view(np.uint64), instants, slices,
        )  # fmt: skip
        if self.view.window is not None:
            # the elements of a window have no interval: the reference reader says so of those that have
            plain &= (instants[:, 0] == ALWAYS) & (instants[:, 1] == NEVER)
        return plain

    def _deleted(self, records: Records) -> Bools:
        """Null values, where they delete: in a window they are rejects."""
        return records.value_null if self.view.window is None else np.zeros(len(records), dtype=np.bool_)

    def _good_keys(self, records: Records) -> Bools:
        """Keys that need no second look; none at all is good in a window."""
        good = _good_keys(records)
        return good if self.view.window is None else good | (np.diff(records.key_bounds) == 0)

    def _read_extras(self, records: Records, plain: Bools, slices: Ints) -> tuple[list[str] | None, list[bytes] | None]:
        view = self.view
        if not view.group_by and not view.carry:
            return None, None
        split = len(view.group_by)
        blob = records.values.tobytes()
        groups, extras = [""] * len(records), [b""] * len(records)
        for row in np.flatnonzero(plain).tolist():
            parts = [blob[start:past] if past > 0 else b"null" for start, past in slices[row].tolist()]
            groups[row], extras[row] = join_extras(view, parts[:split], parts[split:])
        return groups if view.group_by else None, extras

    def _read_one(self, decoded: Decoded, row: int) -> None:
        records = decoded.records
        result = read_update(self.view, records.key(row), records.value(row))
        if isinstance(result, Rejected):
            decoded.rejected[row] = result
            decoded.keys[row] = ""
            decoded.deleted[row] = False
            return
        key, update = result
        decoded.keys[row] = key
        self._place(decoded, row, update)

    def _place(self, decoded: Decoded, row: int, update: Update) -> None:
        if isinstance(update, Upsert):
            decoded.put(row, update)
        elif isinstance(update, Tick):
            decoded.ticks.append(row)
        elif isinstance(update, Modification):
            decoded.modifications[row] = update
        else:
            decoded.deleted[row] = True


def _read_keys(records: Records) -> list[str]:
    """Keys as text, right for ASCII."""
    # latin-1 maps every byte to one character, so that byte bounds are text bounds; keys that are not ASCII are
    # read again, one by one
    text = records.keys.tobytes().decode("latin-1")
    keys = [text[start:past] for start, past in pairwise(records.key_bounds.tolist())]
    assert len(keys) == len(records)
    return keys


def _good_keys(records: Records) -> Bools:
    """Keys that need no second look: ASCII, of a fair length, not reserved."""
    bounds = records.key_bounds
    lengths = np.diff(bounds)
    good: Bools = (lengths > 0) & (lengths <= MAX_KEY_BYTES)
    if len(records.keys):
        starts = np.minimum(bounds[:-1], len(records.keys) - 1)
        good &= records.keys[starts] != ord(TICK[0])
        if (records.keys >= 128).any():
            strange = np.concatenate(([0], np.cumsum(records.keys >= 128)))
            good &= strange[bounds[1:]] == strange[bounds[:-1]]
    return good
