"""A feed and its readers, without Kafka or HTTP: groups, resuming at any moment, slow readers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from query.feed import HEARTBEAT, Feed
from query.history import CHUNK, History
from query.stream import ChangeStream
from skyline.wire.records import Records


def changes(first: int, count: int) -> Records:
    """Changes numbered from `first`: object 0, 1, 2, 0, ... enters and leaves."""
    rows: list[tuple[bytes | None, bytes | None, int, int]] = []
    for seq in range(first, first + count):
        key = f"o{(seq - 1) // 2 % 3}"
        entering = seq % 2 == 1
        value = {
            "seq": seq, "op": "enter" if entering else "leave", "key": key, "point": {"x": float(seq)},
            "reason": "inserted" if entering else "deleted", "by": key, "at": seq * 10, "offset": seq, "partition": 0,
            "size": int(entering),
        }  # fmt: skip
        rows.append((key.encode(), orjson.dumps(value), seq * 10, seq))
    return Records.of(rows)


class Wire:
    """The other end of a connection: what was sent, and whether more is taken."""

    def __init__(self) -> None:
        self.received = b""
        self.open = asyncio.Event()
        self.open.set()
        self.gone = asyncio.Event()
        self.ended = False

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await self.open.wait()
        self.received += message.get("body", b"")
        self.ended = self.ended or (message["type"] == "http.response.body" and not message.get("more_body", False))

    def numbers(self) -> list[int]:
        return [int(line[4:]) for line in self.received.split(b"\n") if line.startswith(b"id: ")]


async def _until(condition: Any) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.005)


def _at_once(last: int) -> Callable[[int], Awaitable[int]]:
    async def reach(_seq: int) -> int:
        return last

    return reach


def _stream(history: History, feed: Feed, after: int, wire: Wire, closed: list[bool]) -> asyncio.Task[None]:
    stream = ChangeStream(history, feed, after, closed.append, _at_once(after))
    return asyncio.create_task(stream({}, wire.receive, wire.send))


def test_readers_that_come_at_any_moment_miss_nothing() -> None:
    async def run() -> None:
        history = History(10**6)
        feed = Feed(history, 1 << 20)
        feed.offer(history.append(changes(1, 5)))
        feed.open()
        wires = []
        for batch in range(40):
            wire = Wire()
            wires.append((wire, batch * 300))
            _stream(history, feed, batch * 300, wire, [])
            feed.offer(history.append(changes(6 + batch * 300, 300)))
            await asyncio.sleep(0.007)
        end = 5 + 40 * 300
        await _until(lambda: feed.flushed == end)
        await _until(lambda: all(wire.numbers()[-1] == end for wire, _ in wires))
        for wire, after in wires:
            assert wire.numbers() == list(range(after + 1, end + 1))
        feed.close()
        await _until(lambda: all(wire.ended for wire, _ in wires))

    asyncio.run(run())


def test_a_group_is_encoded_once_for_all() -> None:
    async def run() -> None:
        history = History(10**6)
        feed = Feed(history, 1 << 20)
        feed.open()
        readers = [feed.subscribe(feed.flushed) for _ in range(3)]
        feed.offer(history.append(changes(1, 2)))
        feed.offer(history.append(changes(3, 2)))
        groups = [(await reader.take())[0] for reader in readers]
        assert groups[0].count(b"event: change") == 4
        assert groups[0] is groups[1] is groups[2], "one bytes object serves every reader"
        feed.close()

    asyncio.run(run())


def test_a_slow_reader_is_told_and_dropped() -> None:
    async def run() -> None:
        history = History(10**6)
        feed = Feed(history, 5_000)
        feed.open()
        slow, quick, closed = Wire(), Wire(), list[bool]()
        tasks = [_stream(history, feed, 0, slow, closed), _stream(history, feed, 0, quick, [])]
        await _until(lambda: len(feed.readers) == 2)
        slow.open.clear()
        for batch in range(10):
            feed.offer(history.append(changes(1 + batch * 10, 10)))
            await _until(lambda batch=batch: feed.flushed == 10 + batch * 10)
            await _until(lambda batch=batch: quick.numbers()[-1:] == [10 + batch * 10])
        slow.open.set()
        await _until(lambda: slow.ended)
        assert b"event: dropped" in slow.received
        assert slow.numbers() == list(range(1, slow.numbers()[-1] + 1)), "what it got has no gap"
        assert slow.numbers()[-1] < 100
        await tasks[0]
        assert closed == [True]
        assert quick.numbers() == list(range(1, 101))
        assert len(feed.readers) == 1
        feed.close()
        await tasks[1]

    asyncio.run(run())


def test_a_group_larger_than_the_room_reaches_who_keeps_up() -> None:
    async def run() -> None:
        history = History(10**6)
        feed = Feed(history, 1_000)
        feed.open()
        wire = Wire()
        _stream(history, feed, 0, wire, [])
        await _until(lambda: len(feed.readers) == 1)
        for batch in range(3):
            feed.offer(history.append(changes(1 + batch * 100, 100)))
            await _until(lambda batch=batch: wire.numbers()[-1:] == [100 + batch * 100])
        assert wire.numbers() == list(range(1, 301))
        feed.close()
        await _until(lambda: wire.ended)

    asyncio.run(run())


def test_what_is_dropped_while_a_reader_catches_up_is_said() -> None:
    """The reader takes nothing while the oldest changes go; then it learns where it goes on."""

    async def run() -> None:
        history = History(CHUNK)
        feed = Feed(history, 1 << 20)
        history.append(changes(1, 6_000))
        feed.open()
        wire = Wire()
        wire.open.clear()
        _stream(history, feed, 0, wire, [])
        for first in range(6_001, 5 * CHUNK, 1_000):
            feed.offer(history.append(changes(first, 1_000)))
        assert history.first > 6_000
        wire.open.set()
        await _until(lambda: wire.numbers()[-1:] == [history.last])
        told, after = wire.numbers(), history.first - 1
        gap = b'event: gap\ndata: {"reason":"changes up to %d are no longer held","seq":%d}' % (after, after)
        assert gap in wire.received
        begin = told.index(history.first)
        assert told[:begin] == list(range(1, begin + 1))
        assert told[begin:] == list(range(history.first, history.last + 1))
        feed.close()
        await _until(lambda: wire.ended)

    asyncio.run(run())


def test_who_has_changes_of_another_log_is_told() -> None:
    async def run() -> None:
        history = History(10**6)
        feed = Feed(history, 1 << 20)
        history.append(changes(1, 5))
        feed.open()
        wire = Wire()
        asyncio.create_task(ChangeStream(history, feed, 900, [].append, _at_once(5))({}, wire.receive, wire.send))  # noqa: RUF006
        await _until(lambda: len(feed.readers) == 1)
        assert b"event: gap\ndata: {" in wire.received
        assert b"change 900 is not known, the last one is 5" in wire.received
        feed.offer(history.append(changes(6, 2)))
        await _until(lambda: wire.numbers() == [6, 7])
        feed.close()
        await _until(lambda: wire.ended)

    asyncio.run(run())


def test_a_reader_that_goes_away_leaves_nothing_behind() -> None:
    async def run() -> None:
        history = History(10**6)
        feed = Feed(history, 1_000)
        feed.open()
        wire = Wire()
        task = _stream(history, feed, 0, wire, [])
        await _until(lambda: len(feed.readers) == 1)
        wire.gone.set()
        await task
        assert not feed.readers
        feed.close()

    asyncio.run(run())


def test_heartbeats_are_comments() -> None:
    assert HEARTBEAT.startswith(b":")
    assert HEARTBEAT.endswith(b"\n\n")


def test_a_reader_that_comes_while_the_service_stops_is_told() -> None:
    async def run() -> None:
        history = History(10**6)
        feed = Feed(history, 1_000)
        feed.open()
        feed.close()
        wire = Wire()
        async with asyncio.timeout(30):
            await ChangeStream(history, feed, 0, [].append, _at_once(0))({}, wire.receive, wire.send)
        assert b"event: closing" in wire.received

    asyncio.run(run())
