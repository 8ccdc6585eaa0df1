"""The past: members as of a time, intervals, sizes and pages of changes, against the published changes."""

from __future__ import annotations

import bisect
from typing import Any

import orjson
import pytest

from skyline.view import View
from tests import naive
from tests.maintainer.harness import read_all
from tests.query.harness import Client, Stack, updates

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module", params=["plain3", "grouped2", "coalesced"])
def told(request: pytest.FixtureRequest, stack: Stack) -> tuple[View, list[dict[str, Any]]]:
    """A view and its changes, all of them published and read."""
    view = stack.view(request.param)
    last = stack.publish(view, updates(seed=5, count=2000, objects=50))
    with Client(stack.query.address) as client:
        state = client.ask(f"/views/{view.name}/skyline", min_offset=last)
        if view.coalesce:
            client.until_settled(view)
        else:
            client.until_published(view, state["seq"])
        changes = [orjson.loads(value or b"") for _, value, _ in read_all(stack.kafka, view.topic("changes"))]
        assert client.ask(f"/views/{view.name}/skyline")["seq"] == len(changes)
    return view, changes


def test_members_at_any_time(client: Client, told: tuple[View, list[dict[str, Any]]]) -> None:
    view, changes = told
    times = [change["at"] for change in changes]
    for at in (times[0] - 1, *times[:: len(times) // 40 + 1], times[-1]):
        given = client.ask(f"/views/{view.name}/skyline", as_of=at)
        seq = bisect.bisect_right(times, at)
        assert (given["as_of"], given["clock"], given["seq"]) == (at, at, seq)
        assert given["offset"] == (changes[seq - 1]["offset"] if seq else -1)
        expected = naive.as_of([(change["at"], change["op"], change["key"]) for change in changes], at)
        assert [member["key"] for member in given["members"]] == sorted(expected)
        newest = {change["key"]: change for change in changes[:seq]}
        for member in given["members"]:
            assert member["point"] == newest[member["key"]]["point"]


def test_the_past_in_words_of_people(client: Client, told: tuple[View, list[dict[str, Any]]]) -> None:
    view, _ = told
    early = client.ask(f"/views/{view.name}/skyline", as_of="2023-11-14T22:13:20.500Z")
    assert early["as_of"] == 1_700_000_000_500
    assert early == client.ask(f"/views/{view.name}/skyline", as_of=1_700_000_000_500)
    ranked = client.ask(f"/views/{view.name}/skyline", as_of=1_700_000_000_500, rank="price:1", limit=3)
    prices = sorted(member["point"]["price"] for member in early["members"])
    assert [member["score"] for member in ranked["members"]] == prices[:3]
    path = f"/views/{view.name}/skyline?as_of=1700000000500&rank=price:1&limit=3"
    head, *lines, tail = client.get(path, headers={"Accept": "application/x-ndjson"}).text.splitlines()
    assert [orjson.loads(line) for line in lines] == ranked["members"], "line by line it is the same past"
    assert {**orjson.loads(head), **orjson.loads(tail), "members": ranked["members"]} == ranked
    problem = client.ask(f"/views/{view.name}/skyline", 400, as_of="2099-01-01T00:00:00Z")
    assert "has not come" in problem["detail"]


def test_when_an_object_was_a_member(client: Client, told: tuple[View, list[dict[str, Any]]]) -> None:
    view, changes = told
    for key in {change["key"] for change in changes}:
        expected: list[dict[str, Any]] = []
        for change in changes:
            if change["key"] != key:
                continue
            end = {"seq": change["seq"], "reason": change["reason"]}
            if change["op"] == "enter":
                expected.insert(0, {"from": change["at"], "until": None, "entered": end, "left": None})
            elif change["op"] == "leave":
                expected[0] |= {"until": change["at"], "left": end}
        given = client.ask(f"/views/{view.name}/history", key=key, limit=10_000)
        assert given["intervals"] == expected
        assert given["whole"]
        assert client.ask(f"/views/{view.name}/history", key=key, limit=1)["intervals"] == expected[:1]
    assert client.ask(f"/views/{view.name}/history", key="nobody")["intervals"] == []


def test_members_over_time(client: Client, told: tuple[View, list[dict[str, Any]]]) -> None:
    view, changes = told
    given = client.ask(f"/views/{view.name}/sizes", points=10_000)
    assert given["sizes"] == [{"at": change["at"], "size": change["size"]} for change in changes]
    few = client.ask(f"/views/{view.name}/sizes", points=5)["sizes"]
    assert len(few) == 5
    assert (few[0], few[-1]) == (given["sizes"][0], given["sizes"][-1])
    half = changes[len(changes) // 2]["at"]
    since = client.ask(f"/views/{view.name}/sizes", points=10_000, since=half)["sizes"]
    assert since == [size for size in given["sizes"] if size["at"] >= half]


def test_pages_of_changes(client: Client, told: tuple[View, list[dict[str, Any]]]) -> None:
    view, changes = told
    headers = {"Accept": "application/json"}
    found: list[dict[str, Any]] = []
    after = 0
    while page := client.get(f"/views/{view.name}/changes?after={after}&limit=300", headers=headers).json()["changes"]:
        found += page
        after = page[-1]["seq"]
    assert found == changes
    newest = client.get(f"/views/{view.name}/changes?limit=7", headers=headers).json()
    assert newest["changes"] == changes[-7:]
    assert (newest["first"], newest["last"], newest["next"]) == (1, len(changes), len(changes))
