"""The application without Kafka: what needs a maintainer that lags at will, or a mistake of ours."""

from __future__ import annotations

import asyncio
import threading

import orjson
import pytest

from skyline.view import View
from tests.query.harness import START, Row
from tests.query.local import Local, ask

VIEW = View.of("hotels", {"dimensions": {"price": "min", "rating": "max"}})
PATH = "/views/hotels"


def hotel(key: str, price: float, rating: float = 1.0, after: int = 0) -> Row:
    return key.encode(), orjson.dumps({"price": price, "rating": rating}), START + after


def test_a_page_of_changes_ends_with_the_state_that_it_names() -> None:
    """Changes may be read before the updates that made them: they belong to a later answer."""

    async def run() -> None:
        ahead, here = Local(VIEW), Local(VIEW)
        rows = [hotel(f"h{i}", 9 - i, i) for i in range(4)]
        for some in (rows[:2], rows[2:]):
            ahead.put(some)
        here.put(rows[:2])
        ahead.publish()
        here.view.history = ahead.view.history
        async with here.client() as client:
            newest = await ask(client, f"{PATH}/changes", limit=2)
            assert (newest["seq"], newest["last"]) == (3, 7)
            assert [change["seq"] for change in newest["changes"]] == [2, 3]
            assert newest["next"] == 3
            rest = await ask(client, f"{PATH}/changes", after=2)
            assert [change["seq"] for change in rest["changes"]] == [3]
            assert (await ask(client, f"{PATH}/changes", after=3))["changes"] == []

    asyncio.run(run())


def test_a_mistake_of_ours_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        local = Local(VIEW)
        monkeypatch.setattr(local.view, "summary", lambda: 1 // 0)
        async with local.client() as client:
            problem = await ask(client, PATH, 500)
        assert problem["type"] == "/problems/failure"
        assert 'skyline_query_requests_total{route="/views/{view}",status="500",view="hotels"} 1.0' in local.metrics()

    asyncio.run(run())


def test_an_index_that_cannot_be_maintained_ends_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    local = Local(VIEW)
    monkeypatch.setattr(local.view.table, "maintain", lambda: 1 // 0)
    thread = threading.Thread(target=local.view._maintain)
    thread.start()
    thread.join(30)
    assert local.stop.is_set()
    assert "division" in str(local.view.trouble())


def test_a_maintainer_that_lags_is_waited_for_and_named() -> None:
    async def run() -> None:
        local = Local(VIEW, "--wait-seconds", "0.05")
        local.put([hotel("a", 5), hotel("c", 6, 2, after=5)])
        local.publish()
        local.put([hotel("b", 4, after=10)])
        async with local.client() as client:
            then = await ask(client, f"{PATH}/skyline", as_of=START + 4)
            assert [member["key"] for member in then["members"]] == ["a"]
            for at in (START + 5, START + 10):  # more changes may come that were made at the time of the last one
                behind = await ask(client, f"{PATH}/skyline", 503, as_of=at)
                assert behind["type"] == "/problems/behind"
            explained = await ask(client, f"{PATH}/objects/a")
            assert (explained["seq"], explained["published"], explained["member"]) == (4, 2, False)
            assert explained["history"][0]["until"] is None, "its leaving is not published yet"
            local.publish()
            then = await ask(client, f"{PATH}/skyline", as_of=START + 10)
            assert [member["key"] for member in then["members"]] == ["b", "c"]
            assert (await ask(client, f"{PATH}/objects/a"))["history"][0]["until"] == START + 10

    asyncio.run(run())
