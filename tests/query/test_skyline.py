"""Every parameter of /skyline, alone and together, against the definitions, over HTTP on a real broker."""

from __future__ import annotations

import itertools
from typing import Any

import orjson
import pytest

from skyline.view import View
from tests.query.expected import Asked, answer, clock_after, groups_in, live_after
from tests.query.harness import Client, Row, Stack, updates

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module", params=["plain0", "grouped0"])
def filled(request: pytest.FixtureRequest, stack: Stack) -> tuple[View, list[Row], int]:
    """A view with updates in it: the view, the updates, the last offset."""
    view = stack.view(request.param)
    rows = updates(seed=7, count=2500, objects=120)
    return view, rows, stack.publish(view, rows)


WHERE = [[], [("price", "<=", 20.0)], [("price", ">", 5.0), ("rating", "<", 8.0), ("distance", ">=", 1.0)]]
DIMS = [None, ["price", "distance"], ["rating"]]
NEAR: list[dict[str, float]] = [{}, {"price": 17.5}, {"price": 10.0, "rating": 3.0}]
RANK = [None, {"price": 0.7, "distance": 0.3}, {"rating": 2.0}]


@pytest.mark.parametrize(("where", "dims"), list(itertools.product(WHERE, DIMS)))
def test_questions_are_answered_by_definition(
    client: Client, filled: tuple[View, list[Row], int], where: Any, dims: Any
) -> None:
    view, rows, last = filled
    live = live_after(view, rows)
    groups = [None, "Paris"] if view.group_by else [None]
    for near, rank, k, group in itertools.product(NEAR, RANK, [1, 3], groups):
        asked = Asked(where, dims, rank, near, k, group)
        given = client.ask(
            f"/views/{view.name}/skyline", **asked.parameters(), enumerate="true", min_offset=last
        )  # fmt: skip
        assert (given["offset"], given["clock"]) == (last, clock_after(rows))
        assert [(member["key"], member["dominates"]) for member in given["members"]] == answer(
            view, live, asked, groups_in(view, rows)
        )
        assert given["complete"]
        assert given["count"] == len(given["members"])
        if rank is not None:
            assert [_value(member["score"]) for member in given["members"]] == pytest.approx(
                [_score(view, member["point"], asked) for member in given["members"]]
            )


def _value(score: Any) -> float:
    return float("nan") if score is None else float(score)


def _score(view: View, point: dict[str, Any], asked: Asked) -> float:
    """The weighted sum that members are ordered by, in the space of the question."""
    total = 0.0
    for name, weight in (asked.rank or {}).items():
        if asked.dims is None or name in asked.dims:
            value = float(point[name])
            sign = view.dimensions.signs[view.dimensions.names.index(name)]
            total += weight * (abs(value - asked.near[name]) if name in asked.near else value * sign)
    return total


def test_the_plain_skyline(client: Client, filled: tuple[View, list[Row], int]) -> None:
    view, rows, last = filled
    given = client.ask(f"/views/{view.name}/skyline", min_offset=last)
    live = {held.key: held for held in live_after(view, rows)}
    expected = sorted(key for key, _ in answer(view, list(live.values()), Asked()))
    assert [member["key"] for member in given["members"]] == expected
    for member in given["members"]:
        record = live[member["key"]].record
        assert [float(member["point"][name]) for name in view.dimensions.names] == list(record.point)
        assert orjson.dumps({name: member[name] for name in ("group", "carry") if name in member}) == (
            b"{" + record.extras[1:] + b"}"
        )


def test_limit_cuts_and_says_so(client: Client, filled: tuple[View, list[Row], int]) -> None:
    view, rows, last = filled
    live = live_after(view, rows)
    path = f"/views/{view.name}/skyline"
    asked = Asked(rank={"price": 1.0}, limit=2)
    given = client.ask(path, **asked.parameters(), min_offset=last)
    expected = [key for key, _ in answer(view, live, asked, groups_in(view, rows))]
    assert [member["key"] for member in given["members"]] == expected
    assert (given["count"], given["complete"]) == (2, False)
    scores = [member["score"] for member in given["members"]]
    assert scores == sorted(scores)
    assert scores == [member["point"]["price"] for member in given["members"]]
    whole = client.ask(path, rank="price:1")["count"]
    assert client.ask(path, rank="price:1", limit=whole)["complete"], "a limit that cuts nothing off"
    assert not client.ask(path, rank="price:1", limit=whole - 1)["complete"]
    plain = client.ask(path, limit=1)
    assert (plain["count"], plain["complete"]) == (1, False)


def test_members_arrive_line_by_line(client: Client, filled: tuple[View, list[Row], int]) -> None:
    view, rows, last = filled
    for asked in (Asked(), Asked(where=[("price", ">=", 3.0)], k=3)):
        parameters = {name: value for name, value in asked.parameters().items() if value is not None}
        headers = {"Accept": "application/x-ndjson"}
        response = client.get(f"/views/{view.name}/skyline", params={**parameters, "min_offset": last}, headers=headers)
        assert response.headers["content-type"].startswith("application/x-ndjson")
        head, *members, tail = [orjson.loads(line) for line in response.text.splitlines()]
        assert head["offset"] == last
        assert tail == {"count": len(members), "complete": True}
        expected = [key for key, _ in answer(view, live_after(view, rows), asked, groups_in(view, rows))]
        found = [member["key"] for member in members]
        assert found == (sorted(expected) if asked == Asked() else expected)


def test_an_approximation_of_all_pages_is_exact(client: Client, filled: tuple[View, list[Row], int]) -> None:
    view, rows, last = filled
    path = f"/views/{view.name}/skyline"
    if view.group_by:
        assert client.ask(path, 400, approximate=5)["parameter"] == "approximate"
        return
    given = client.ask(path, approximate=1000, min_offset=last)
    expected = {key for key, _ in answer(view, live_after(view, rows), Asked())}
    assert {member["key"] for member in given["members"]} == expected
    assert (given["error"], given["complete"]) == (0.0, True)
    assert not any(member["hypothetical"] for member in given["members"])


def test_the_strongest(client: Client, filled: tuple[View, list[Row], int]) -> None:
    view, rows, last = filled
    everybody = answer(view, live_after(view, rows), Asked(k=10_000))
    offsets = {held.key: held.offset for held in live_after(view, rows)}
    expected = sorted(everybody, key=lambda pair: (-pair[1], offsets[pair[0]]))[:7]
    given = client.ask(f"/views/{view.name}/dominating", limit=7, min_offset=last)
    assert [(found["key"], found["dominates"]) for found in given["objects"]] == expected


def test_the_crowd(client: Client, filled: tuple[View, list[Row], int]) -> None:
    view, rows, last = filled
    live = live_after(view, rows)
    members = {key for key, _ in answer(view, live, Asked())}
    given = client.ask(f"/views/{view.name}/objects", sample=1000, min_offset=last)
    assert {found["key"] for found in given["objects"]} == {held.key for held in live} - members
    assert given["of"] == len(live)
    few = client.ask(f"/views/{view.name}/objects", sample=10, members="true")
    keys = [found["key"] for found in few["objects"]]
    assert len(keys) == len(set(keys)) == 10
    assert set(keys) <= {held.key for held in live}
