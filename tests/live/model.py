"""The semantics of a live skyline written down for reading: every update compares the members before and after."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from skyline.live import Change
from skyline.view import NEVER
from tests import naive

BEGINNING = -(2**63)


@dataclass(frozen=True)
class Record:
    point: tuple[float, ...]  # as given
    group: Hashable
    valid_from: int
    valid_until: int
    waits: bool = False


class Model:
    """A live skyline in plain Python. `directions` are "min" or "max", one per dimension."""

    def __init__(self, directions: list[str]) -> None:
        self.signs = [1.0 if direction == "min" else -1.0 for direction in directions]
        self.records: dict[Any, Record] = {}
        self.clock = BEGINNING

    def apply_row(
        self,
        row: int,
        key: Any,
        point: tuple[float, ...],
        *,
        deleted: bool = False,
        at: int | None = None,
        valid_from: int = BEGINNING,
        valid_until: int = NEVER,
        group: Hashable = None,
        touched: bool = False,
    ) -> list[Change]:
        now = self.clock if at is None else at
        changes = self.advance(now, row)
        over = valid_until != NEVER and valid_until <= max(now, valid_from)
        record = Record(point, group, valid_from, valid_until, waits=valid_from > now)
        if deleted:
            return changes + self._update(row, now, key, None, "deleted")
        if over:
            return changes + self._update(row, now, key, None, "expired")
        return changes + self._update(row, now, key, record, "moved", touched)

    def advance(self, at: int, row: int = -1) -> list[Change]:
        changes = []
        while due := [(when, key) for key in self.records if (when := self._due(key)) <= at and when != NEVER]:
            when, key = min(due)
            record = self.records[key]
            started = replace(record, waits=False) if record.waits else None
            changes += self._update(row, when, key, started, "expired")
        self.clock = at
        return changes

    def _due(self, key: Any) -> int:
        record = self.records[key]
        return record.valid_from if record.waits else record.valid_until

    def live(self) -> dict[Any, Record]:
        return {key: record for key, record in self.records.items() if not record.waits}

    def inward(self, point: tuple[float, ...]) -> list[float]:
        return [sign * x for sign, x in zip(self.signs, point, strict=True)]

    def members(self) -> dict[Any, Record]:
        live = self.live()
        points = {key: self.inward(record.point) for key, record in live.items()}
        groups = {key: record.group for key, record in live.items()}
        return {key: live[key] for key in naive.members(points, groups)}

    def dominators(self, key: Any) -> list[Any]:
        record = self.live().get(key)
        if record is None:
            return []
        point = self.inward(record.point)
        peers = ((k, r) for k, r in self.members().items() if r.group == record.group)
        return sorted(k for k, r in peers if naive.dominates(self.inward(r.point), point))

    def _update(
        self, row: int, at: int, key: Any, record: Record | None, reason: str, touched: bool = False
    ) -> list[Change]:
        before, was_live, old = self.members(), key in self.live(), self.records.get(key)
        if record is None:
            self.records.pop(key, None)
        else:
            self.records[key] = record
        after = self.members()
        changes = []

        def note(op: str, k: Any, member: Record, why: str) -> None:
            point = tuple(x + 0.0 for x in member.point)
            changes.append(Change(op, k, point, why, key, row, at))

        for k in sorted(before.keys() - after.keys()):
            note("leave", k, before[k], reason if k == key else "dominated")
        if key in before and key in after:
            same = old is not None and record is not None and (old.point, old.group) == (record.point, record.group)
            if touched or not same:
                note("move", key, after[key], "moved")
        for k in sorted(after.keys() - before.keys()):
            why = "promoted" if k != key else "moved" if was_live else "inserted"
            note("enter", k, after[k], why)
        return changes
