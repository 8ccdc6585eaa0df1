"""Every change of a view that is held, in order: what the members were, when an object was one, what came after.

Changes lie in chunks, as the bytes that were published; a sealed chunk is compressed. Beside them stand flat columns
(time, kind, size, the same object's last entering or leaving) and, now and then, the members where a chunk begins.
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


class End(NamedTuple):
    """The change that began or ended a stay among the members."""

    at: int
    seq: int
    reason: str


class Interval(NamedTuple):
    """A stretch of event time in which an object was a member.

    `entered` is None where that is no longer held, `left` while it lasts.
    """

    entered: End | None
    left: End | None

    def fields(self) -> dict[str, Any]:
        return {
            "from": self.entered and self.entered.at,
            "until": self.left and self.left.at,
            "entered": self.entered and {"seq": self.entered.seq, "reason": self.entered.reason},
            "left": self.left and {"seq": self.left.seq, "reason": self.left.reason},
        }


class Past(NamedTuple):
    """The members at one time: the last change up to it, the offset of the update that made that, and the changes
    that made each member what it was then."""

    seq: int
    offset: int
    members: list[bytes]


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
        """Number of each object's last entering or leaving."""
        self._since_base = 0
        self.first = 1
        """Number of the oldest change held."""
        self.last = 0
        """Number of the newest change."""
        self.whole = True
        """Whether it reaches back to the view's first change."""
        self.rooted = True
        """Whether the topic began with the view's first change: otherwise members before it are unknown for ever."""
        self.oldest: int | None = None
        """Event time of the oldest change held."""
        self.newest: int | None = None
        """Event time of the newest change."""

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
            if changes:
                self.oldest, self.newest = int(self._columns["at"][0]), changes[-1]["at"]
        return [(change["seq"], value) for change, value in zip(changes, values, strict=True)]

    def after(self, seq: int, most: int) -> list[tuple[int, bytes]]:
        """Up to `most` changes after number `seq`, as published; from the oldest held on, if that is younger."""
        with self._lock:
            start = max(seq + 1, self.first)
            end = min(start + most, self.last + 1)
            chunks = [chunk for chunk in self._chunks if chunk.first < end and chunk.first + chunk.count > start]
        found: list[tuple[int, bytes]] = []
        for chunk in chunks:
            begin = max(start, chunk.first)
            found += enumerate(chunk.values()[begin - chunk.first : end - chunk.first], begin)
        return found

    def seq_before(self, offset: int) -> int:
        """Number of the last change that an update up to this offset made."""
        with self._lock:
            return self.first - 1 + int(np.searchsorted(self._columns["offset"], offset, side="right"))

    def at(self, at: int) -> Past | None:
        """The members at an event time; None where that is not known any more. O(members + changes since a base)."""
        with self._lock:
            place = int(np.searchsorted(self._columns["at"], at, side="right"))
            if place == 0:
                return Past(0, -1, []) if self.whole else None
            if not self.rooted:
                return None
            seq, offset = self.first + place - 1, int(self._columns["offset"][place - 1])
            based = [place for place, chunk in enumerate(self._chunks) if chunk.base is not None and chunk.first <= seq]
            chunks = [chunk for chunk in self._chunks[based[-1] :] if chunk.first <= seq]
        members = dict(chunks[0].base or {})
        for chunk in chunks:
            for value in chunk.values()[: seq + 1 - chunk.first]:
                change = orjson.loads(value)
                if change["op"] == "leave":
                    members.pop(change["key"], None)
                else:
                    members[change["key"]] = value
        return Past(seq, offset, list(members.values()))

    def intervals(self, key: str, most: int, upto: int) -> list[Interval]:
        """When this object was a member, by changes up to number `upto`, newest first, at most so many.

        O(intervals up to there, and those since).
        """
        with self._lock:
            inside = key in self._members
            left: End | None = None
            found: list[Interval] = []
            seq = self._latest.get(key, 0)
            while seq >= self.first and len(found) < most:
                op, end = self._end(seq)
                inside = op == "leave"
                if seq <= upto and inside:
                    left = end
                elif seq <= upto:
                    found.append(Interval(end, left))
                    left = None
                seq = int(self._columns["before"][seq - self.first])
        if inside and len(found) < most:
            found.append(Interval(None, left))
        return found

    def sizes(self, since: int | None, points: int, upto: int) -> list[tuple[int, int]]:
        """(event time, members) after changes from `since` to number `upto`, thinned out evenly to at most so many."""
        with self._lock:
            known = max(0, upto + 1 - self.first)
            at, sizes = self._columns["at"][:known], self._columns["size"][:known]
            begin = 0 if since is None else int(np.searchsorted(at, since))
            steps = min(points, len(at) - begin)
            chosen = np.unique(np.linspace(begin, len(at) - 1, steps).astype(np.int64))
            return list(zip(at[chosen].tolist(), sizes[chosen].tolist(), strict=True))

    def _append(self, value: bytes, change: dict[str, Any]) -> int:
        """Stores one change; gives the number of the same object's last entering or leaving, 0 if none is known."""
        seq, key = change["seq"], change["key"]
        if not self._chunks:
            self.first, self.whole, self.rooted = seq, seq == 1, seq == 1
        if not self._chunks or self._chunks[-1].count == CHUNK:
            self._open_chunk(seq)
        self._chunks[-1].append(value)
        self._since_base += 1
        if change["op"] == "leave":
            self._members.pop(key, None)
        else:
            self._members[key] = value
        before = self._latest.get(key, 0)
        if change["op"] != "move":
            self._latest[key] = seq
        self.last = seq
        return before

    def _end(self, seq: int) -> tuple[str, End]:
        place = seq - self.first
        op, reason = divmod(int(self._columns["kind"][place]), len(REASONS))
        return OPS[op], End(int(self._columns["at"][place]), seq, REASONS[reason])

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
