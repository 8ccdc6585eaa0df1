"""The HTTP source as a process, and a client for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson

from tests.ingest.harness import Source, eventually

LINES = {"Content-Type": "application/x-ndjson"}


class Service:
    """A running service: post to it, look at its probes."""

    def __init__(self, source: Source, client: httpx.Client, port: int) -> None:
        self.source, self.client, self.port = source, client, port

    def post(self, view: str, body: Any, **options: Any) -> httpx.Response:
        """Updates as JSON; bytes are sent as they are."""
        options.setdefault("headers", {"Content-Type": "application/json"})
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        return self.client.post(f"/views/{view}/updates", content=content, **options)

    def metric(self, line: str) -> float:
        """The value of the metric that is written so, 0 while there is none."""
        found = re.search(rf"^{re.escape(line)} (\S+)$", self.client.get("/metrics").text, re.MULTILINE)
        return float(found[1]) if found else 0.0


@contextmanager
def http_service(directory: Path, bootstrap: str, views: Path, *more: str) -> Iterator[Service]:
    """Runs until the block ends; it must end by itself, in good order, when told to."""
    source = Source(directory, "http", "--bootstrap", bootstrap, "--views", str(views), "--port", "0", *more)
    try:
        eventually(lambda: "taking updates" in source.text or source.process.poll() is not None, "a start")
        address = re.search(r"at (http://127\.0\.0\.1:(\d+))/views", source.text)
        assert address, source.text
        with httpx.Client(base_url=address[1], timeout=60.0) as client:
            service = Service(source, client, int(address[2]))
            eventually(lambda: client.get("/readyz").status_code == 200, "readiness")
            yield service
        if source.process.poll() is None:
            assert source.stop() == 0, source.text
    finally:
        if source.process.poll() is None:
            source.kill()


def problem(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    """The problem document of an answer that must be this one (RFC 9457)."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert document["type"] == f"urn:skyline:problem:{kind}"
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    return document
