"""Ends connections that hold room without using it: no request comes, or nothing of an answer is taken.

uvicorn has a limit for connections that rest between two requests, and for no others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, Final, NamedTuple

LOOK_SECONDS: Final = 5.0
PATIENCE_SECONDS: Final = 30.0
"""How long a client may take for the head of a request, and how long it may take nothing of an answer."""


class _Wait(NamedTuple):
    """Since when a connection is waited for; bytes that it has not taken, none while a request is waited for."""

    since: float
    untaken: int


class Connections:
    """Looks at the open connections now and then. `open_` is the server's own set of its protocols."""

    def __init__(self, open_: Collection[Any], patience: float = PATIENCE_SECONDS) -> None:
        self._open, self._patience = open_, patience
        self._waits: dict[Any, _Wait] = {}

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.look(asyncio.get_running_loop().time())

    def look(self, now: float) -> None:
        """Cuts off those that were waited for too long. O(open connections)."""
        known, self._waits = self._waits, {}
        for connection in list(self._open):
            untaken = connection.transport.get_write_buffer_size()
            if not untaken and not _lacks_request(connection):
                continue
            before = known.get(connection)
            if before is None or (untaken > 0) != (before.untaken > 0) or untaken < before.untaken:
                before = _Wait(now, untaken)
            if now - before.since >= self._patience:
                connection.transport.abort()
            else:
                self._waits[connection] = _Wait(before.since, untaken)


def _lacks_request(connection: Any) -> bool:
    """Whether the head of a request is what it waits for; one that rests after an answer has a timer of its own."""
    under_way = connection.cycle is not None and not connection.cycle.response_complete
    return not under_way and connection.timeout_keep_alive_task is None
