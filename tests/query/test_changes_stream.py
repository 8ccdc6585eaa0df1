"""Change streams: nothing missing, nothing twice, resumed without a gap, and slow readers are told why they go."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from skyline.runtime.config import KafkaSettings
from tests.maintainer.harness import read_all
from tests.query.harness import START, Client, Publisher, Query, Stack, updates

pytestmark = pytest.mark.kafka


def events(response: httpx.Response) -> Iterator[dict[str, Any]]:
    """The events of a stream, as they come: event, id and data."""
    event: dict[str, Any] = {}
    for line in response.iter_lines():
        if not line:
            if "data" in event:
                yield event
            event = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = orjson.loads(value) if name == "data" else value


def test_a_stream_resumes_without_a_gap(stack: Stack, client: Client) -> None:
    view = stack.view("streamed")
    path = f"/views/{view.name}/changes"
    rows = updates(seed=31, count=1200, objects=40)
    seen: list[dict[str, Any]] = []
    with client.stream("GET", path) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        last = stack.publish(view, rows[:400])
        for event in events(response):
            assert event["event"] == "change"
            assert int(event["id"]) == event["data"]["seq"]
            seen.append(event["data"])
            if len(seen) == 50:
                break
    last = stack.publish(view, rows[400:])
    goal = client.ask(f"/views/{view.name}/skyline", min_offset=last)["seq"]
    with client.stream("GET", path, headers={"Last-Event-ID": str(seen[-1]["seq"])}) as response:
        for event in events(response):
            seen.append(event["data"])
            if event["data"]["seq"] == goal:
                break
    assert seen == [orjson.loads(value or b"") for _, value, _ in read_all(stack.kafka, view.topic("changes"))]
    with client.stream("GET", path, params={"after": goal - 3}) as response:
        rest = [event["data"]["seq"] for event in islice(events(response), 3)]
    assert rest == [goal - 2, goal - 1, goal]


def test_a_slow_reader_is_dropped_and_can_go_on(kafka: KafkaSettings, stack: Stack, tmp_path: Path) -> None:
    """A reader that does not read: the service closes its stream, counts it, and serves it again from where it was."""
    view = stack.view("slow")
    query = Query(kafka, stack.path, tmp_path, "--only", view.name, "--stream-buffer", "20000")
    query.wait_ready()
    host, port = query.address.removeprefix("http://").split(":")
    publisher = Publisher(kafka)
    with Client(query.address) as client, socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect((host, int(port)))
        reader.sendall(f"GET /views/{view.name}/changes HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        _until(lambda: client.ask(f"/views/{view.name}")["readers"] == 1, "the reader is there")
        dropped = f'skyline_query_dropped_readers_total{{view="{view.name}"}} 1.0'
        numbers = count()

        def more_is_too_much() -> bool:
            number = next(numbers)
            value = orjson.dumps({"price": -number, "distance": 0, "rating": number})
            publisher.publish(view, [(f"big{number % 7}".encode() * 60, value, START)] * 50)
            return dropped in client.get("/metrics").text

        _until(more_is_too_much, "the reader is dropped")
        received = _read_all(reader)
    assert b"event: dropped" in received or received.count(b"id: ") > 0
    assert query.stop() == 0


def test_a_stream_ends_in_good_order_when_the_service_stops(kafka: KafkaSettings, stack: Stack, tmp_path: Path) -> None:
    view = stack.view("slow")
    query = Query(kafka, stack.path, tmp_path, "--only", view.name)
    query.wait_ready()
    with Client(query.address) as client, client.stream("GET", f"/views/{view.name}/changes") as response:
        lines = response.iter_lines()
        assert next(lines) == "retry: 1000"
        query.process.terminate()
        assert "event: closing" in list(lines)
    assert query.process.wait(30) == 0


def test_what_is_no_longer_held_is_said(kafka: KafkaSettings, stack: Stack, tmp_path: Path) -> None:
    view = stack.view("streamed")
    stack.publish(view, updates(seed=32, count=40_000, objects=40))
    query = Query(kafka, stack.path, tmp_path, "--only", view.name, "--history", "1")
    query.wait_ready()
    with Client(query.address) as client:
        _until(lambda: not client.ask(f"/views/{view.name}")["history"]["whole"], "the oldest changes are dropped")
        held = client.ask(f"/views/{view.name}")["history"]
        assert held["last"] - held["first"] >= 8191
        with client.stream("GET", f"/views/{view.name}/changes", params={"after": 3}) as response:
            gap, change = islice(events(response), 2)
        assert (gap["event"], gap["data"]["seq"]) == ("gap", held["first"] - 1)
        assert change["data"]["seq"] == held["first"]
        problem = client.ask(f"/views/{view.name}/skyline", 410, as_of=START)
        assert problem["allowed"].startswith(f"times from {held['oldest']}")
        now = client.ask(f"/views/{view.name}/skyline")
        then = client.ask(f"/views/{view.name}/skyline", as_of=now["clock"])
        assert then["members"] == now["members"]
    assert query.stop() == 0


def _until(condition: Any, what: str) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def _read_all(reader: socket.socket) -> bytes:
    reader.settimeout(30)
    received = b""
    while part := reader.recv(65536):
        received += part
    return received
