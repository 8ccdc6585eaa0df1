"""Every change of a view that is held, in order: what the members were, when an object was one, what came after.

Changes lie in chunks, as the bytes that were published; a sealed chunk is compressed. Beside them stand flat columns
(time, kind, size, the same object's change before) and, now and then, the members at the beginning of a chunk.
"""

from __future__ import annotations

import threading
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from query.change_chunks import Chunk
from query.growing import Growing
from skyline.live.changes import OPS, REASONS
from skyline.wire.records import Records

CHUNK: Final = 8192
_COLUMNS: Final = {"at": np.int64, "kind": np.int8, "size": np.int32, "before": np.int64, "offset": np.int64}


class Interval(NamedTuple):
    """A stretch of event time in which an object was a member; what ended it is None while it lasts."""

    since: int
    until: int | None
    entered: tuple[int, str]
    left: tuple[int, str] | None

    def fields(self) -> dict[str, Any]:
        return {
            "from": self.since,
            "until": self.until,
            "entered": dict(zip(("seq", "reason"), self.entered, strict=True)),
            "left": None if self.left is None else dict(zip(("seq", "reason"), self.left, strict=True)),
        }


class History:
    """The last `most` changes. One thread appends; any number read."""

    def __init__(self, most: int) -> None:
        self._most = max(most, CHUNK)
        self._lock = threading.Lock()
        self._chunks: list[Chunk] = []
        self._columns = Growing(_COLUMNS)
        self._members: dict[str, bytes] = {}
        """The change that last made or moved each member."""
        self._latest: dict[str, int] = {}
        """Number of each object's last change."""
        self._since_base = 0
        self.first = 1
        """Number of the oldest change held."""
        self.last = 0
        """Number of the newest change."""
        self.whole = True
        """Whether it reaches back to the view's first change."""

    def append(self, records: Records) -> list[tuple[int, bytes]]:
        """Takes in published changes; gives them as (seq, bytes). About 3 µs each."""
        values = [records.value(row) or b"" for row in range(len(records))]
        changes = [orjson.loads(value) for value in values]
        with self._lock:
            self._columns.extend(
                at=[change["at"] for change in changes],
                kind=[OPS.index(change["op"]) * len(REASONS) + REASONS.index(change["reason"]) for change in changes],
                size=[change["size"] for change in changes],
                offset=[change["offset"] for change in changes],
                before=[self._append(value, change) for value, change in zip(values, changes, strict=True)],
            )
            self._trim()
        return [(change["seq"], value) for change, value in zip(changes, values, strict=True)]

    def after(self, seq: int, most: int) -> list[tuple[int, bytes]]:
        """Up to `most` changes after number `seq`, as published; from the oldest held on, if that is younger."""
        with self._lock:
            start = max(seq + 1, self.first)
            end = min(start + most, self.last + 1)
            chunks = [chunk for chunk in self._chunks if chunk.first < end and chunk.first + chunk.count > start]
        found: list[tuple[int, bytes]] = []
        for chunk in chunks:
            numbered = enumerate(chunk.values(), chunk.first)
            found += [(number, value) for number, value in numbered if start <= number < end]
        return found

    def seq_at(self, at: int) -> int:
        """Number of the last change up to this event time."""
        with self._lock:
            return self.first - 1 + int(np.searchsorted(self._columns["at"], at, side="right"))

    def seq_before(self, offset: int) -> int:
        """Number of the last change that an update up to this offset made."""
        with self._lock:
            return self.first - 1 + int(np.searchsorted(self._columns["offset"], offset, side="right"))

    def members_after(self, seq: int) -> list[bytes]:
        """The changes that made the members what they were after change `seq`. O(members + changes since a base)."""
        with self._lock:
            based = [place for place, chunk in enumerate(self._chunks) if chunk.base is not None and chunk.first <= seq]
            chunks = self._chunks[based[-1] :] if based else []
        members = dict(chunks[0].base or {}) if chunks else {}
        for chunk in chunks:
            for value in chunk.values()[: max(0, seq + 1 - chunk.first)]:
                change = orjson.loads(value)
                if change["op"] == "leave":
                    members.pop(change["key"], None)
                else:
                    members[change["key"]] = value
        return list(members.values())

    def intervals(self, key: str, most: int) -> list[Interval]:
        """When this object was a member, newest first, at most so many. O(its changes)."""
        with self._lock:
            at, kinds, before = self._columns["at"], self._columns["kind"], self._columns["before"]
            seq = self._latest.get(key, 0)
            found: list[Interval] = []
            left: tuple[int, str] | None = None
            until: int | None = None
            while seq >= self.first and len(found) < most:
                place = seq - self.first
                op, reason = divmod(int(kinds[place]), len(REASONS))
                if OPS[op] == "leave":
                    until, left = int(at[place]), (seq, REASONS[reason])
                elif OPS[op] == "enter":
                    found.append(Interval(int(at[place]), until, (seq, REASONS[reason]), left))
                    until = left = None
                seq = int(before[place])
        return found

    def sizes(self, since: int | None, points: int) -> list[tuple[int, int]]:
        """(event time, members) after changes from `since` on, thinned out evenly to at most so many."""
        with self._lock:
            at, sizes = self._columns["at"], self._columns["size"]
            begin = 0 if since is None else int(np.searchsorted(at, since))
            steps = min(points, len(at) - begin)
            chosen = np.unique(np.linspace(begin, len(at) - 1, steps).astype(np.int64))
            return list(zip(at[chosen].tolist(), sizes[chosen].tolist(), strict=True))

    @property
    def oldest(self) -> int | None:
        """Event time of the oldest change held."""
        with self._lock:
            return int(self._columns["at"][0]) if len(self._columns) else None

    @property
    def newest(self) -> int | None:
        """Event time of the newest change."""
        with self._lock:
            return int(self._columns["at"][-1]) if len(self._columns) else None

    def _append(self, value: bytes, change: dict[str, Any]) -> int:
        """Stores one change; gives the number of the same object's change before, 0 if none is known."""
        seq, key = change["seq"], change["key"]
        if not self._chunks:
            self.first, self.whole = seq, seq == 1
        if not self._chunks or self._chunks[-1].count == CHUNK:
            self._open_chunk(seq)
        self._chunks[-1].append(value)
        self._since_base += 1
        if change["op"] == "leave":
            self._members.pop(key, None)
        else:
            self._members[key] = value
        before, self._latest[key] = self._latest.get(key, 0), seq
        self.last = seq
        return before

    def _open_chunk(self, seq: int) -> None:
        """Copies of the members are spaced so that they weigh less than the changes between them."""
        base = None
        if not self._chunks or self._since_base >= 4 * len(self._members):
            base, self._since_base = dict(self._members), 0
        if self._chunks:
            self._chunks[-1].seal()
        self._chunks.append(Chunk(seq, base))

    def _trim(self) -> None:
        """Drops the oldest chunks, up to one with a base, once a quarter more than allowed is held."""
        if len(self._columns) <= self._most + self._most // 4:
            return
        oldest = self.last - self._most + 1
        based = [place for place, chunk in enumerate(self._chunks) if chunk.base is not None and chunk.first <= oldest]
        dropped = self._chunks[based[-1]].first - self.first
        if dropped:
            del self._chunks[: based[-1]]
            self._columns.drop(dropped)
            self._latest = {key: seq for key, seq in self._latest.items() if seq >= self.first + dropped}
            self.first += dropped
            self.whole = False
