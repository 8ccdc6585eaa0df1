"""The response of a change stream: first what the reader has missed, then what comes, until one side ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import orjson
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


class ChangeStream:
    """An ASGI application for one request. A reader that takes nothing is cut off with its connection."""

    def __init__(
        self,
        history: History,
        feed: Feed,
        after: int,
        closed: Callable[[bool], None],
        reach: Callable[[int], Awaitable[int]],
    ) -> None:
        """`after`: number of the last change that the reader has. `reach` waits a while for one, and gives the last.

        `closed` is called at the end with whether the reader was too slow.
        """
        self._history, self._feed, self._after, self._closed = history, feed, after, closed
        self._reach = reach
        self._reader: Subscription | None = None

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        self._feed.streams += 1
        gone = asyncio.create_task(_disconnected(receive))
        writing = asyncio.create_task(self._write(send))
        try:
            await asyncio.wait({gone, writing}, return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                writing.result()
        finally:
            gone.cancel()
            writing.cancel()
            self._feed.streams -= 1
            if self._reader is not None:
                self._feed.readers.discard(self._reader)
            self._closed(self._reader is not None and self._reader.slow)

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await send(_body(b"retry: 1000\n\n"))
        seq = await self._catch_up(send)
        self._reader = reader = self._feed.subscribe(seq)
        ended = False
        while not ended:
            body, ended = await reader.take()
            await send(_body(body))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _catch_up(self, send: Send) -> int:
        """Sends what the reader has missed; gives the number of the last change that it has then."""
        seq = self._after
        last = await self._reach(seq)
        if seq > last:
            why = f"change {seq} is not known, the last one is {last}: the topic may have been created anew"
            await send(_body(_gap(why, last)))
            seq = last
        while seq < self._feed.flushed:
            # beside the event loop: older changes are unpacked first
            missed = await asyncio.to_thread(self._history.after, seq, min(_BACKLOG, self._feed.flushed - seq))
            first = missed[0][0]
            if first > seq + 1:
                await send(_body(_gap(f"changes up to {first - 1} are no longer held", first - 1)))
            await send(_body(events(missed)))
            seq = missed[-1][0]
        return seq


def _gap(why: str, seq: int) -> bytes:
    return event("gap", orjson.dumps({"reason": why, "seq": seq}))


def _body(data: bytes) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": True}


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
