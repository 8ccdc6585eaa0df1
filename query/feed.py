"""Change streams: one consumer, any number of readers. A group of changes is encoded once and handed to all of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Final

import orjson

from query.history import History

GROUP_SECONDS: Final = 0.05
"""Changes wait so long for others, to be written together. At most 100 ms are allowed."""

HEARTBEAT_SECONDS: Final = 15.0
HEARTBEAT: Final = b": heartbeat\n\n"


class Subscription:
    """What one reader has yet to be sent. Lives on the event loop."""

    def __init__(self, seq: int, room: int) -> None:
        self.seq = seq
        """Number of the last change that it has; ahead of the feed where it learnt it from an answer."""
        self._room = room
        self._waiting: list[bytes] = []
        self._size = 0
        self._wake = asyncio.Event()
        self.end: bytes | None = None
        """The event that ends the stream."""
        self.slow = False

    def offer(self, group: bytes) -> None:
        """Adds a group, unless the reader has fallen too far behind: then its stream ends here.

        One update may change more members than there is room for: who has taken all before is not behind.
        """
        if self.end is not None:
            return
        if self._size and self._size + len(group) > self._room:
            self.slow = True
            self.finish("dropped", "reading too slowly: reconnect with Last-Event-ID, which your client has, to go on")
            return
        self._waiting.append(group)
        self._size += len(group)
        self._wake.set()

    def finish(self, kind: str, why: str) -> None:
        """Ends the stream with an event."""
        self.end = event(kind, orjson.dumps({"reason": why, "seq": self.seq}))
        self._wake.set()

    async def take(self) -> tuple[bytes, bool]:
        """All that waits, once something does, and whether that is the end."""
        await self._wake.wait()
        self._wake.clear()
        waiting, self._waiting, self._size = self._waiting, [], 0
        if self.end is not None:
            waiting.append(self.end)
        return (waiting[0] if len(waiting) == 1 else b"".join(waiting)), self.end is not None


class Feed:
    """Hands new changes to every subscription. `offer` is called by the thread that follows V.changes."""

    def __init__(self, history: History, room: int) -> None:
        self._history, self._room = history, room
        self._lock = threading.Lock()
        self._new: list[tuple[int, bytes]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scheduled = False
        self._beat: asyncio.Task[None] | None = None
        self.flushed = 0
        """Number of the last change that was handed to the readers."""
        self.readers: set[Subscription] = set()
        """Those that have all up to there."""
        self.streams = 0
        """Open streams, those that are still catching up included."""
        self._closed = False

    def open(self) -> None:
        """Called on the event loop, before any reader."""
        with self._lock:
            self._loop = asyncio.get_running_loop()
        self.flushed = self._history.last
        self._beat = asyncio.create_task(self._heartbeats())

    def offer(self, changes: Sequence[tuple[int, bytes]]) -> None:
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                return  # there can be no reader
            self._new += changes
            if self._scheduled:
                return
            self._scheduled = True
            self._loop.call_soon_threadsafe(self._schedule)

    def subscribe(self, seq: int) -> Subscription:
        """A subscription that has all changes up to `seq`, which must not be behind: what follows will be offered."""
        assert seq >= self.flushed
        reader = Subscription(seq, self._room)
        self.readers.add(reader)
        if self._closed:
            self._end(reader)
        return reader

    def close(self) -> None:
        """Ends every stream, in good order."""
        if self._beat is not None:
            self._beat.cancel()
        self._closed = True
        for reader in self.readers:
            self._end(reader)

    @staticmethod
    def _end(reader: Subscription) -> None:
        reader.finish("closing", "the service stops: reconnect with Last-Event-ID to go on")

    def _schedule(self) -> None:
        assert self._loop is not None
        self._loop.call_later(GROUP_SECONDS, self._flush)

    def _flush(self) -> None:
        with self._lock:
            new, self._new, self._scheduled = self._new, [], False
        new = [(seq, value) for seq, value in new if seq > self.flushed]
        if not new:
            return
        before, self.flushed = self.flushed, new[-1][0]
        if not self.readers:
            return
        group = events(new)
        for reader in self.readers:
            if reader.seq <= before:
                reader.offer(group)
            elif reader.seq < self.flushed:
                reader.offer(events([change for change in new if change[0] > reader.seq]))
            reader.seq = max(reader.seq, self.flushed)

    async def _heartbeats(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            for reader in self.readers:
                reader.offer(HEARTBEAT)


def events(changes: Sequence[tuple[int, bytes]]) -> bytes:
    """Changes as server-sent events; the number of a change is the event's id."""
    return b"".join([b"id: %d\nevent: change\ndata: %b\n\n" % change for change in changes])


def event(kind: str, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), data)
