"""A view followed without Kafka: a test says which updates are in and which changes were published."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import httpx
from fastapi import FastAPI
from prometheus_client import CollectorRegistry, generate_latest

from maintainer.keyed import KeyedState
from query.app import create_app
from query.config import QueryConfig
from query.followed import FollowedView
from query.gate import Gate
from query.routes.common import Service
from query.warm import warm_up
from skyline.runtime.config import configure
from skyline.runtime.metrics import Metrics
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from tests.query.harness import Row


class Local:
    """The application over one keyed view. What is put is in at once; its changes are, once they are published."""

    def __init__(self, view: View, *settings: str) -> None:
        warm_up(view)
        config = configure(QueryConfig, ["--bootstrap", "127.0.0.1:1", *settings])
        self._metrics = Metrics(CollectorRegistry())
        self.stop = threading.Event()
        self.view = FollowedView(view, config, self._metrics, self.stop)
        self.view.table.load()
        self.view.changes.live = True
        self._maintainer, self._decoder = KeyedState(view), UpdateDecoder(view)
        self._unpublished: list[tuple[bytes, bytes | None, int]] = []
        self._offset = 0
        gate = Gate(config.workers, config.queue, config.time_limit)
        self.app: FastAPI = create_app(Service({view.name: self.view}, config, gate, self._metrics))

    def put(self, rows: Sequence[Row]) -> None:
        numbered = [(*row, self._offset + i) for i, row in enumerate(rows)]
        self._offset += len(rows)
        self.view._apply(Records.of(numbered))
        output = self._maintainer.apply(self._decoder.decode(Records.of(numbered)))
        topic = self.view.view.topic("changes")
        self._unpublished += [(out.key, out.value, out.timestamp) for out in output.records if out.topic == topic]

    def publish(self, count: int | None = None) -> None:
        """Publishes the next changes, or all."""
        chosen = self._unpublished[:count]
        del self._unpublished[: len(chosen)]
        last = self.view.history.last
        self.view._record(Records.of([(*change, last + i) for i, change in enumerate(chosen)]))

    def client(self) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://local", headers={"Accept": "application/json"})

    def metrics(self) -> str:
        return generate_latest(self._metrics.registry).decode()


async def ask(client: httpx.AsyncClient, path: str, status: int = 200, **parameters: Any) -> Any:
    response = await client.get(path, params=parameters)
    assert response.status_code == status, response.text
    return response.json()
