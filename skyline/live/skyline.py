"""The face of the live engines: keys, directions and labels outside; slots, inward points and ids inside."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyline.errors import InvalidInput
from skyline.live import rows
from skyline.live.byte_keys import ByteKeys
from skyline.live.changes import Changes, Columns, Key
from skyline.live.engine import Batch, State
from skyline.live.engines import engine_of
from skyline.live.explanation import Explanation, explain
from skyline.live.groups import NO_GROUP, Groups
from skyline.live.int_keys import IntKeys
from skyline.live.keys import Keys
from skyline.live.objects import ABSENT, ALWAYS, MEMBER
from skyline.live.state_check import check_state
from skyline.view import NEVER, Bools, Dimensions, Floats, Ints, numbers

_VERSION: Final = 1
_FEW_OF: Final = 16
"""Where more than one in so many slots may be unused, marking them all is faster than sorting the candidates."""


class Skyline:
    """The skyline of keyed objects, kept current under updates.

    Keys are all int64, all str or all bytes. Time is event time in milliseconds: the clock is the largest `at` seen,
    and before any, the smallest int64.

    >>> live = Skyline({"price": "min", "rating": "max"})
    >>> for change in live.apply(["ritz", "hostel"], [[300, 4.8], [20, 3.9]]):
    ...     print(change.op, change.key, change.reason)
    enter ritz inserted
    enter hostel inserted
    >>> for change in live.apply(["palace"], [[250, 4.9]]):
    ...     print(change.op, change.key, change.reason, change.by)
    leave ritz dominated palace
    enter palace inserted palace
    >>> live.explain("ritz").nearest
    'palace'
    """

    def __init__(self, dimensions: Mapping[str, str], engine: str = "forest", **engine_options: Any) -> None:
        self._start(Dimensions.of(dimensions), engine, engine_options)

    def _start(self, dimensions: Dimensions, engine: str, options: dict[str, Any]) -> None:
        self.dimensions = dimensions
        self.engine = engine
        self._options = options
        self._engine = engine_of(engine, len(dimensions), options)
        self._keys: Keys | None = None
        self._groups = Groups()
        self._constants = rows.Constants()

    def apply(
        self,
        keys: Sequence[Key] | Ints,
        points: npt.ArrayLike,
        deleted: Any = None,
        valid_until: Any = None,
        at: Any = None,
        *,
        valid_from: Any = None,
        groups: Sequence[Hashable] | Ints | None = None,
        touched: Any = None,
    ) -> Changes:
        """Applies n rows in order and gives the changes of each.

        keys         (n,) the object of each row; a row replaces its object's whole record
        points       (n, d) numbers in the order of the dimensions; those of deleted rows are not looked at
        deleted      (n,) bool; deleting an unknown object does nothing
        valid_until  (n,) or one int, milliseconds; default `NEVER`
        at           (n,) or one int, not descending, not before the clock; default: time stands still
        valid_from   (n,) or one int; an object with a later one waits; default: always
        groups       (n,) labels, one skyline each: text, numbers, booleans, None, or tuples of these; default None
        touched      (n,) bool; reports a move of a member even where point and group are the same as before

        A batch that cannot be applied is refused as a whole with `InvalidInput`, and nothing has changed. One without
        rows changes nothing either, whatever `at`: only rows and `advance` let time pass.
        """
        listed = rows.listed("keys", keys)
        n = len(listed)
        table = self._keys if self._keys is not None else _keys_for(listed)
        key_rows = table.rows(listed)
        constant = self._constants.column
        gone = constant(False, np.bool_, n) if deleted is None else rows.flags("deleted", deleted, n)
        marks = constant(False, np.bool_, n) if touched is None else rows.flags("touched", touched, n)
        start = constant(ALWAYS, np.int64, n) if valid_from is None else rows.times("valid_from", valid_from, n)
        end = constant(NEVER, np.int64, n) if valid_until is None else rows.times("valid_until", valid_until, n)
        inward = self._inward(points, gone if deleted is not None else None, n)
        when = self._times(at, n)
        labels = self._labels(groups, gone, n)
        if not n:
            return self._nothing()

        slots, new = table.assign(key_rows, ~gone)
        self._keys = table
        if labels is None:
            group_ids, new_groups = constant(NO_GROUP, np.int64, n), list[int]()
        else:
            group_ids, new_groups = self._groups.assign(labels)
        self._engine.objects.reserve(table.slots, self._groups.ids)
        columns = self._engine.apply(Batch(slots, inward, group_ids, gone, start, end, when, marks), table)
        return self._changes(columns, slots, new, new_groups)

    def advance(self, at: int) -> Changes:
        """Advances the clock to `at` and gives the changes of all that starts or expires up to then."""
        now = rows.instant("at", at)
        if now < self._engine.clock:
            raise InvalidInput(f"time runs backwards: {now}, but the clock shows {self._engine.clock}")
        none = np.zeros(0, np.int64)
        flags = np.zeros(0, np.bool_)
        batch = Batch(none, np.zeros((0, len(self.dimensions))), none, flags, none, none, none, flags, advance_to=now)
        if self._keys is None:
            self._engine.clock = now
            return self._nothing()
        return self._changes(self._engine.apply(batch, self._keys), none, none, [])

    def members(self) -> dict[Key, tuple[float, ...]]:
        """Every member and its point, by key. O(capacity + m log m)."""
        if self._keys is None:
            return {}
        slots = self._engine.objects.members()
        points = self.dimensions.outward(self._engine.objects.points[slots]).tolist()
        return dict(sorted(zip(self._keys.take(slots), map(tuple, points), strict=True)))

    def is_member(self, key: Key) -> bool:
        """Whether this object is a member now. O(1)."""
        slot = int(self.slots([key])[0])
        return slot >= 0 and bool(self._engine.objects.status[slot] == MEMBER)

    def explain(self, key: Key) -> Explanation:
        """Why this object is, or is not, a member. O(capacity)."""
        slot = int(self.slots([key])[0])
        if self._keys is None or slot < 0:
            return Explanation(key, known=False, live=False, member=False)
        return explain(self._engine, self._keys, key, slot)

    def slots(self, keys: Sequence[Key] | Ints) -> Ints:
        """The integers that stand for these keys, -1 for unknown ones.

        A slot is small and stays with its key until a `Changes.freed` lists it, so that callers can keep what belongs
        to an object in an array of their own.
        """
        if self._keys is None or not len(keys):
            return np.full(len(keys), -1, np.int64)
        return self._keys.find(self._keys.rows(keys))

    def record(self, key: Key) -> tuple[tuple[float, ...], int, int] | None:
        """(point, valid_from, valid_until) of an object, live or waiting, or None where it is unknown. O(1)."""
        slot = int(self.slots([key])[0])
        if slot < 0:
            return None
        table = self._engine.objects
        point = self.dimensions.outward(table.points[slot]).tolist()
        return tuple(point), int(table.valid_from[slot]), int(table.valid_until[slot])

    def __len__(self) -> int:
        """Number of members, over all groups."""
        return self._engine.size

    @property
    def objects(self) -> int:
        """Number of live objects, members or not."""
        return self._engine.live

    @property
    def waiting(self) -> int:
        """Number of objects whose `valid_from` has not come."""
        return 0 if self._keys is None else len(self._keys) - self._engine.live

    @property
    def clock(self) -> int:
        """The largest `at` seen."""
        return self._engine.clock

    def dump(self) -> State:
        """The whole state as plain arrays, numbers and strings, for a checkpoint. Slots are kept. O(capacity)."""
        state: State = {
            "version": _VERSION,
            "engine": self.engine,
            "options": json.dumps(self._options),
            "dimensions": json.dumps(dict(zip(self.dimensions.names, self.dimensions.directions, strict=True))),
            **self._groups.dump(),
            "kind": "",
            "slots": 0,
        }
        if self._keys is not None:
            state |= self._keys.dump()
        return state | self._engine.dump(int(state["slots"]))

    @classmethod
    def load(cls, state: State, engine: str | None = None, **engine_options: Any) -> Skyline:
        """The skyline that was dumped; it goes on as if nothing had happened.

        Another engine may take over, with options of its own; without one, options replace those of the dump. A state
        that no `dump` gave is refused with `InvalidInput`.
        """
        if state.get("version") != _VERSION:
            raise InvalidInput(f"state has version {state.get('version')!r}, this library reads {_VERSION}")
        check_state(state)
        options = engine_options if engine else {**json.loads(str(state["options"])), **engine_options}
        loaded = cls(json.loads(str(state["dimensions"])), engine or str(state["engine"]), **options)
        loaded._groups.load(state)
        if state["kind"]:
            loaded._keys = _keys_of(str(state["kind"]))
            loaded._keys.load(state)
        loaded._engine.load(loaded._keys, loaded._groups.ids, state)
        return loaded

    def _check(self) -> None:
        """Asserts every invariant. Slow."""
        self._groups._check()
        table = self._engine.objects
        if self._keys is None:
            assert not len(self)
            return
        self._keys._check()
        assert np.array_equal(np.flatnonzero(table.status != ABSENT), self._keys.taken())
        known = table.group[self._keys.taken()]
        assert np.array_equal(table.population, np.bincount(known, minlength=len(table.population)))
        assert {0, *known.tolist()} == set(self._groups._ids.values())
        self._engine._check(self._keys)

    def _inward(self, points: npt.ArrayLike, deleted: Bools | None, n: int) -> Floats:
        array = numbers(points)
        if deleted is not None and deleted.any() and array.ndim == 2 and len(array) == n:
            array = np.where(deleted[:, None], 0.0, array)
        inward = self.dimensions.inward(array)
        if len(inward) != n:
            raise InvalidInput(f"{len(inward)} points given for {n} keys")
        return inward

    def _times(self, at: Any, n: int) -> Ints:
        if at is None:
            return np.full(n, self._engine.clock, np.int64)
        when = rows.times("at", at, n)
        rows.check_order(when, self._engine.clock)
        return when

    def _labels(self, groups: Any, deleted: Bools, n: int) -> list[Hashable] | None:
        if groups is None:
            return None
        column = rows.listed("groups", groups)
        labels: list[Hashable] = column.tolist() if isinstance(column, np.ndarray) else list(column)
        if len(labels) != n:
            raise InvalidInput(f"{len(labels)} groups given for {n} keys")
        for row in np.flatnonzero(deleted).tolist():
            labels[row] = None
        self._groups.check(labels)
        return labels

    def _changes(self, columns: Columns, row_slots: Ints, new: Ints, new_groups: list[int]) -> Changes:
        """Names the changes' keys and groups, then lets go of the slots and ids that nothing uses any more."""
        assert self._keys is not None
        table = self._engine.objects
        changes = Changes(
            columns,
            points=self.dimensions.outward(columns.points),
            keys=self._keys.take(columns.slots),
            by=self._keys.take(columns.by_slots),
            groups=self._groups.take(columns.groups),
            row_slots=row_slots,
            freed=self._unused(columns.gone, new),
        )
        self._keys.release(changes.freed)
        if new_groups or len(columns.emptied):
            empty = {*new_groups, *columns.emptied.tolist()} - {NO_GROUP}
            self._groups.release([group for group in sorted(empty) if not table.population[group]])
        return changes

    def _unused(self, gone: Ints, new: Ints) -> Ints:
        """Slots without an object, among those that lost theirs and those that may never have got one."""
        if not len(gone) and not len(new):
            return gone
        candidates = np.concatenate((gone, new))
        status = self._engine.objects.status
        if len(candidates) * _FEW_OF < len(status):
            unused: Ints = np.unique(candidates[status[candidates] == ABSENT])
            return unused
        marked = np.zeros(len(status), np.bool_)
        marked[candidates] = True
        return np.flatnonzero(marked & (status == ABSENT))

    def _nothing(self) -> Changes:
        none = np.zeros(0, np.int64)
        codes = np.zeros(0, np.int8)
        points = np.zeros((0, len(self.dimensions)))
        columns = Columns(none, codes, none, codes, none, none, none, points, none, none, none)
        return Changes(columns, points, [], [], [], none, none)


def _keys_of(kind: str) -> Keys:
    return IntKeys() if kind == "int" else ByteKeys(kind)


def _keys_for(keys: Sequence[Any] | npt.NDArray[Any]) -> Keys:
    """An empty table of the kind of the first key; without one, any will do."""
    if not len(keys):
        return IntKeys()
    first = keys[0].item() if isinstance(keys[0], np.generic) else keys[0]
    for kind in (int, str, bytes):
        if isinstance(first, kind) and not isinstance(first, bool):
            return _keys_of(kind.__name__)
    raise InvalidInput(f"keys must be int64, str or bytes, got {first!r}")
