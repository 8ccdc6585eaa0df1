"""uvicorn, stopped by our own signals: requests that are under way are answered before the process ends."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from fastapi import FastAPI

from skyline.errors import InvalidInput

_PATIENCE: Final = 2.5
"""Seconds that the broker has for what is under way when a signal comes; then those requests are answered 503."""

_GRACE: Final = 3
"""Whole seconds after which connections are cut: the local stack kills what has not ended after 4."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections; port 0 takes a free one."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another with --host and --port"
        ) from None
    # for the connections, which inherit it: asyncio sets it only on sockets that it has made, and without it every
    # answer on a connection that is kept waits 40 ms for the client to acknowledge its first half
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def serve(app: FastAPI, listener: socket.socket, stop: threading.Event, give_up: Callable[[], None]) -> None:
    """Serves until `stop`, then ends in good order. `give_up` makes what still waits for the broker fail."""
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", server_header=False, timeout_graceful_shutdown=_GRACE
    )
    asyncio.run(_Server(config, stop, give_up).serve([listener]))


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, stop: threading.Event, give_up: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop, self._give_up = stop, give_up

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals to the one who sets `stop`."""
        yield

    async def on_tick(self, counter: int) -> bool:
        return self._stop.is_set() or await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        timer = asyncio.get_running_loop().call_later(_PATIENCE, self._give_up)
        await super().shutdown(sockets)
        timer.cancel()
