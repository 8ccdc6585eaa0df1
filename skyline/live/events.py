"""An engine that handles one event at a time, in Python: time, groups and changes once, for the simple engines."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Iterable
from itertools import count
from typing import Any, Final, NamedTuple

import numpy as np

from skyline.live.changes import (
    DELETED,
    DOMINATED,
    ENTER,
    EXPIRED,
    INSERTED,
    LEAVE,
    MOVE,
    MOVED,
    PROMOTED,
    Columns,
    Key,
)
from skyline.live.engine import Batch, Engine, State
from skyline.live.keys import Keys
from skyline.live.objects import ABSENT, MEMBER, WAITING
from skyline.live.objects import DOMINATED as IS_DOMINATED
from skyline.view import NEVER, Floats, Ints

_FEW_STALE: Final = 64
"""Stale entries of the heap that are not worth dropping: ends that are put off again and again leave one each."""


class Effect(NamedTuple):
    """Slots that became members and slots that ceased to be, the updated object included."""

    entered: Iterable[int] = ()
    left: Iterable[int] = ()


class EventEngine(Engine):
    """Leaves to a subclass what one insertion, removal or move does to one group; does everything else.

    `self.objects.points[slot]` holds the current point of every live object, the new one of the one that is
    inserted or moved. A subclass keeps its structures by group id, and drops them with the group's last object.
    """

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self._heap: list[tuple[int, Any, int, int]] = []  # (time, key, ticket, slot), stale ones included
        self._tickets: dict[int, int] = {}  # slot -> ticket of its entry in the heap that counts
        self._ticket = count()
        self._log: list[tuple[int, int, int, int, int, int, int, Floats, int]] = []
        self._gone: list[int] = []
        self._emptied: list[int] = []

    @abstractmethod
    def insert(self, group: int, slot: int) -> Effect:
        """A new object in this group."""

    @abstractmethod
    def remove(self, group: int, slot: int) -> Effect:
        """The object leaves this group. Its point is still in the table."""

    @abstractmethod
    def move(self, group: int, slot: int, old: Floats) -> Effect:
        """The object moved from `old` to the point in the table."""

    def settle(self) -> None:
        """Work that may wait until the changes of an update are known. Called once after every update."""

    def build(self, group: int, slots: Ints) -> None:
        """Builds the structures of a group that has none yet, from its live objects (ascending slots)."""
        for slot in slots.tolist():
            self.insert(group, slot)
            self.settle()

    def restore(self, keys: Keys, state: State) -> None:  # noqa: ARG002
        table = self.objects
        live = table.live()
        for group in np.unique(table.group[live]).tolist():
            self.build(group, live[table.group[live] == group])
        for slot in np.flatnonzero(table.status != ABSENT).tolist():
            self._schedule(slot, keys)

    def apply(self, batch: Batch, keys: Keys) -> Columns:
        self._log, self._gone, self._emptied = [], [], []
        for row, slot in enumerate(batch.slots.tolist()):
            at = int(batch.at[row])
            self._advance(at, row, keys)
            if slot >= 0:
                self._apply_row(batch, row, slot, at, keys)
        self._advance(batch.advance_to, -1, keys)
        return self._columns()

    def _advance(self, at: int, row: int, keys: Keys) -> None:
        """Everything that is due up to `at`, in order of (time, key)."""
        while self._heap and self._heap[0][0] <= at:
            due, _, ticket, slot = heapq.heappop(self._heap)
            if self._tickets.get(slot) != ticket:
                continue
            self.clock = due
            target = IS_DOMINATED if self.objects.status[slot] == WAITING else ABSENT
            update = _Update(self, row, due, slot, EXPIRED)
            update.to(target, self.objects.points[slot].copy(), int(self.objects.group[slot]))
            self._record(update, keys)
            self._schedule(slot, keys)
        self.clock = max(self.clock, at)

    def _apply_row(self, batch: Batch, row: int, slot: int, at: int, keys: Keys) -> None:
        table = self.objects
        start, end = int(batch.valid_from[row]), int(batch.valid_until[row])
        deleted = bool(batch.deleted[row])
        over = end != NEVER and (end <= at or end <= start)
        target = ABSENT if deleted or over else WAITING if start > at else IS_DOMINATED
        reason = DELETED if deleted else EXPIRED if over else MOVED
        update = _Update(self, row, at, slot, reason, touched=bool(batch.touched[row]))
        if target == ABSENT:
            update.to(target, table.points[slot].copy(), int(table.group[slot]))
        else:
            update.to(target, batch.points[row], int(batch.groups[row]))
            table.interval[slot] = start, end
        self._record(update, keys)
        self._schedule(slot, keys)

    def _schedule(self, slot: int, keys: Keys) -> None:
        """Enters the object's next due time into the heap; an earlier entry becomes stale. O(log n) amortised."""
        self._tickets.pop(slot, None)
        due = self.objects.due(slot)
        if due != NEVER:
            self._tickets[slot] = ticket = next(self._ticket)
            heapq.heappush(self._heap, (due, keys.take([slot])[0], ticket, slot))
        if len(self._heap) > 2 * len(self._tickets) + _FEW_STALE:
            self._heap = sorted(entry for entry in self._heap if self._tickets.get(entry[3]) == entry[2])

    def _record(self, update: _Update, keys: Keys) -> None:
        """Logs the update's changes in canonical order and lets the engine settle."""
        changes = update.changes()
        by_key: dict[int, Key] = dict(zip([c[1] for c in changes], keys.take([c[1] for c in changes]), strict=True))
        for op, slot, reason, group, point in sorted(changes, key=lambda c: (c[0], by_key[c[1]])):
            self.size += op - MOVE
            self._log.append((update.row, op, slot, reason, update.slot, update.at, group, point, self.size))
        self.live += update.live_after - update.live_before
        self._count_population(update)
        self.settle()

    def _count_population(self, update: _Update) -> None:
        table = self.objects
        known_before = update.old_status != ABSENT
        if known_before:
            table.population[update.old_group] -= 1
        if table.status[update.slot] != ABSENT:
            table.population[table.group[update.slot]] += 1
        else:
            self._gone.append(update.slot)
        if known_before and not table.population[update.old_group]:
            self._emptied.append(update.old_group)

    def _columns(self) -> Columns:
        columns = list(zip(*self._log, strict=True)) or [()] * 9
        rows, ops, slots, reasons, by, at, groups, points, sizes = columns
        return Columns(
            rows=np.array(rows, np.int64),
            ops=np.array(ops, np.int8),
            slots=np.array(slots, np.int64),
            reasons=np.array(reasons, np.int8),
            by_slots=np.array(by, np.int64),
            at=np.array(at, np.int64),
            groups=np.array(groups, np.int64),
            points=np.array(points, np.float64).reshape(len(rows), self.objects.points.shape[1]),
            sizes=np.array(sizes, np.int64),
            gone=np.array(self._gone, np.int64),
            emptied=np.array(self._emptied, np.int64),
        )

    def _check(self, keys: Keys) -> None:
        super()._check(keys)
        scheduled = {slot: due for due, _, ticket, slot in self._heap if self._tickets.get(slot) == ticket}
        known = np.flatnonzero(self.objects.status != ABSENT).tolist()
        assert scheduled == {slot: self.objects.due(slot) for slot in known if self.objects.due(slot) != NEVER}


class _Update:
    """One update of one object: carries it out on the engine and nets its effect."""

    def __init__(self, engine: EventEngine, row: int, at: int, slot: int, reason: int, touched: bool = False) -> None:
        self.engine, self.row, self.at, self.slot, self.reason, self.touched = engine, row, at, slot, reason, touched
        table = engine.objects
        self.old_status, self.old_group = int(table.status[slot]), int(table.group[slot])
        self.old_point = table.points[slot].copy()
        self.net: dict[int, int] = {}
        self.moved = False

    def to(self, target: int, point: Floats, group: int) -> None:
        """Brings the object to its new status (`IS_DOMINATED` stands for live), point and group."""
        table, engine, slot = self.engine.objects, self.engine, self.slot
        was_live, is_live = self.live_before, target >= IS_DOMINATED
        stays = was_live and is_live and group == self.old_group
        self.moved = not stays or not np.array_equal(point, self.old_point)
        if was_live and not stays:
            self._count(engine.remove(self.old_group, slot))
        table.points[slot], table.group[slot] = point, group
        if is_live and not stays:
            self._count(engine.insert(group, slot))
        elif stays and self.moved:
            self._count(engine.move(group, slot, self.old_point))
        for other, net in self.net.items():
            if net:
                table.status[other] = MEMBER if net > 0 else IS_DOMINATED
        if not is_live:
            table.status[slot] = target
        elif not was_live and not self.net.get(slot):
            table.status[slot] = IS_DOMINATED

    @property
    def live_before(self) -> bool:
        return self.old_status >= IS_DOMINATED

    @property
    def live_after(self) -> bool:
        return bool(self.engine.objects.status[self.slot] >= IS_DOMINATED)

    def _count(self, effect: Effect) -> None:
        for sign, slots in ((1, effect.entered), (-1, effect.left)):
            for slot in slots:
                self.net[slot] = self.net.get(slot, 0) + sign

    def changes(self) -> list[tuple[int, int, int, int, Floats]]:
        """(op, slot, reason, group, point) of each net change, in no order."""
        table = self.engine.objects
        groups, points = table.group, table.points
        was, now = self.old_status == MEMBER, table.status[self.slot] == MEMBER
        changes = []
        if was and now and (self.moved or self.touched):
            changes.append((MOVE, self.slot, MOVED, int(groups[self.slot]), points[self.slot].copy()))
        elif was and not now:
            changes.append((LEAVE, self.slot, self.reason, self.old_group, self.old_point))
        elif now and not was:
            reason = MOVED if self.old_status == IS_DOMINATED else INSERTED
            changes.append((ENTER, self.slot, reason, int(groups[self.slot]), points[self.slot].copy()))
        for slot, net in self.net.items():
            if net and slot != self.slot:
                op, reason = (ENTER, PROMOTED) if net > 0 else (LEAVE, DOMINATED)
                changes.append((op, slot, reason, int(groups[slot]), points[slot].copy()))
        return changes
