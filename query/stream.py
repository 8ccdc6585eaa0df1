"""The response of a change stream: first what the reader has missed, then what comes, until one side ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from starlette.types import Message, Receive, Scope, Send

from query.feed import Feed, Subscription, event, events
from query.history import History

_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
    (b"connection", b"close"),
]
_BACKLOG: Final = 2_000
"""Missed changes that are sent at once."""

STALLED_SECONDS: Final = 30.0
"""A reader that takes none of what it missed for so long is cut off."""


class ChangeStream:
    """An ASGI application for one request. `after`: number of the last change that the reader has."""

    def __init__(
        self,
        history: History,
        feed: Feed,
        after: int,
        closed: Callable[[bool], None],
        stalled: float = STALLED_SECONDS,
    ) -> None:
        """`closed` is called at the end with whether the reader was too slow."""
        self._history, self._feed, self._after, self._closed = history, feed, after, closed
        self._stalled = stalled
        self._reader: Subscription | None = None

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        self._feed.streams += 1
        slow = False
        gone = asyncio.create_task(_disconnected(receive))
        writing = asyncio.create_task(self._write(send))
        try:
            await asyncio.wait({gone, writing}, return_when=asyncio.FIRST_COMPLETED)
            if writing.done() and not writing.cancelled():
                slow = writing.result()
        finally:
            gone.cancel()
            writing.cancel()
            self._feed.streams -= 1
            if self._reader is not None:
                self._feed.readers.discard(self._reader)
                slow = slow or self._reader.slow
            self._closed(slow)

    async def _write(self, send: Send) -> bool:
        """Writes until the stream ends; whether the reader stalled before it had caught up."""
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await send(_body(b"retry: 1000\n\n"))
        try:
            seq = await self._catch_up(send)
        except TimeoutError:
            return True
        self._reader = reader = self._feed.subscribe(seq)
        task = asyncio.current_task()
        assert task is not None
        reader.cut = task.cancel
        ended = False
        while not ended:
            body, ended = await reader.take()
            await send(_body(body))
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return False

    async def _catch_up(self, send: Send) -> int:
        seq = self._after
        if seq + 1 < self._history.first:
            missing = b'{"reason":"changes up to %d are no longer held","seq":%d}'
            await send(_body(event("gap", missing % (self._history.first - 1, self._history.first - 1))))
            seq = self._history.first - 1
        while seq < self._feed.flushed:
            missed = self._history.after(seq, min(_BACKLOG, self._feed.flushed - seq))
            async with asyncio.timeout(self._stalled):
                await send(_body(events(missed)))
            seq = missed[-1][0]
        return seq


def _body(data: bytes) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": True}


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
