"""Connections that hold room without using it are cut off; all others are left alone. On a real server and sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from query.connections import Connections

LARGE = b"x" * (32 << 20)
"""More than the kernel's buffers take."""


async def app(scope: Any, receive: Any, send: Any) -> None:
    """`/large` answers at once and much; `/stream` begins and waits; anything else is answered shortly."""
    body = LARGE if scope["path"] == "/large" else b"ok"
    headers = [] if scope["path"] == "/stream" else [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if scope["path"] == "/stream":
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    await send({"type": "http.response.body", "body": body})


class Site:
    """A server, the watch over its connections, and clients."""

    def __init__(self, server: uvicorn.Server, port: int) -> None:
        self.server, self._port = server, port
        self.watch = Connections(server.server_state.connections, patience=30.0)

    async def connect(self, request: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A client that has sent this; it reads only when told to."""
        known = len(self.server.server_state.connections)
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1024)
        await until(lambda: len(self.server.server_state.connections) > known)
        writer.write(request)
        await writer.drain()
        return reader, writer

    @property
    def open(self) -> int:
        return len(self.server.server_state.connections)

    def untaken(self) -> int:
        return sum(held.transport.get_write_buffer_size() for held in self.server.server_state.connections)  # type: ignore[union-attr]


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, lifespan="off", http="h11", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve([listener]))
    await until(lambda: server.started)
    yield Site(server, listener.getsockname()[1])
    server.should_exit = True
    await serving


async def until(condition: Any) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.005)


def test_a_connection_without_a_request_is_cut_off() -> None:
    async def run() -> None:
        async with site() as here:
            _, silent = await here.connect(b"")
            _, trickling = await here.connect(b"GET / HT")
            here.watch.look(0.0)
            trickling.write(b"TP/1.1\r\n")
            await trickling.drain()
            here.watch.look(29.0)
            assert here.open == 2
            here.watch.look(30.0)
            await until(lambda: here.open == 0)
            silent.close()
            trickling.close()

    asyncio.run(run())


def test_a_client_that_takes_nothing_is_cut_off() -> None:
    async def run() -> None:
        async with site() as here:
            _, client = await here.connect(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            await until(lambda: here.untaken() > 0)
            here.watch.look(0.0)
            here.watch.look(29.0)
            assert here.open == 1
            here.watch.look(30.0)
            await until(lambda: here.open == 0)
            client.close()

    asyncio.run(run())


def test_a_slow_client_that_takes_some_is_served_to_the_end() -> None:
    async def run() -> None:
        async with site() as here:
            reader, client = await here.connect(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            await until(lambda: here.untaken() > 0)
            now = 0.0
            while untaken := here.untaken():
                here.watch.look(now)
                now += 20.0
                while here.untaken() == untaken:
                    await reader.readexactly(1 << 16)
            assert now > 100.0
            await until(lambda: here.open == 0)
            assert len(await reader.read(-1)) > 0
            client.close()

    asyncio.run(run())


def test_streams_and_resting_connections_are_left_alone() -> None:
    async def run() -> None:
        async with site() as here:
            reader, stream = await here.connect(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            await reader.readuntil(b"begun")
            answered, resting = await here.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await answered.readuntil(b"ok")
            for now in range(0, 300, 20):
                here.watch.look(float(now))
            assert here.open == 2
            stream.close()
            resting.close()
            await until(lambda: here.open == 0)

    asyncio.run(run())
