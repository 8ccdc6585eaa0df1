"""Explanations of single objects, against the definitions."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import quote

import pytest

from skyline.view import View
from tests import naive
from tests.query.expected import Asked, Live, answer, clock_after, known_after, live_after
from tests.query.harness import START, Client, Row, Stack, updates

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module", params=["plain1", "grouped1"])
def filled(request: pytest.FixtureRequest, stack: Stack) -> tuple[View, list[Row], int]:
    view = stack.view(request.param)
    rows = updates(seed=11, count=1500, objects=150)
    rows.append((b"late", rows_value("late", START + 10**9), rows[-1][2]))
    return view, rows, stack.publish(view, rows)


def rows_value(name: str, valid_from: int) -> bytes:
    return (
        b'{"price":1,"distance":1,"rating":1,"city":"Paris","stars":3,"name":"%b","valid_from":%d}'
        % (name.encode(), valid_from)
    )  # fmt: skip


def test_every_object_is_explained(client: Client, filled: tuple[View, list[Row], int]) -> None:
    view, rows, last = filled
    live = live_after(view, rows)
    members = {key for key, _ in answer(view, live, Asked())}
    inward = {held.key: view.dimensions.inward([held.record.point])[0].tolist() for held in live}
    for held in live:
        given = client.ask(f"/views/{view.name}/objects/{held.key}", min_offset=last)
        assert given["offset"] == last
        assert given["member"] == (held.key in members)
        assert given["state"] == ("member" if held.key in members else "dominated")
        peers = [other for other in live if other.record.group == held.record.group]
        above = {
            peer.key for peer in peers if peer.key in members and naive.dominates(inward[peer.key], inward[held.key])
        }  # fmt: skip
        assert {found["key"] for found in given["dominated_by"]["members"]} == above
        assert given["dominated_by"]["count"] == len(above)
        _check_gaps(view, held, {peer.key: peer for peer in peers}, given)
        layer = _layer([inward[peer.key] for peer in peers], inward[held.key])
        assert (given["layer"], given["deeper_than"]) == ((layer, None) if layer <= 10 else (None, 10))
        _check_ways(view, held, [inward[peer.key] for peer in peers if peer.key != held.key], given)


def _check_gaps(view: View, held: Live, peers: dict[str, Live], given: Any) -> None:
    for found in given["dominated_by"]["members"]:
        for axis, name in enumerate(view.dimensions.names):
            mine, theirs = held.record.point[axis], peers[found["key"]].record.point[axis]
            assert float(found["better_by"][name]) == (0.0 if mine == theirs else abs(mine - theirs))


def _layer(points: list[list[float]], point: list[float]) -> int:
    """Layers, peeled one by one."""
    layer, rest = 1, points
    while point not in (top := [rest[row] for row in naive.skyline(rest)]):
        rest = [other for other in rest if other not in top]
        layer += 1
    return layer


def _check_ways(view: View, held: Live, others: list[list[float]], given: Any) -> None:
    """What `to_enter` promises holds, and nothing less does."""
    assert bool(given["to_enter"]) <= (not given["member"])
    point = view.dimensions.inward([held.record.point])[0].tolist()
    for way in given["to_enter"]:
        axis = view.dimensions.names.index(way["dimension"])
        goal = float(way["to"]) * float(view.dimensions.signs[axis])
        enough = math.nextafter(goal, -math.inf) if way["past"] else goal
        short = goal if way["past"] else math.nextafter(goal, math.inf)
        for value, enters in ((enough, True), (short, False)):
            moved = [*point[:axis], value, *point[axis + 1 :]]
            assert (not any(naive.dominates(other, moved) for other in others)) == enters
    if not given["member"] and not any(math.isinf(value) for value in point):
        assert len(given["to_enter"]) >= sum(all(other[axis] > -math.inf for other in others) for axis in range(3))


def test_an_object_that_waits(client: Client, filled: tuple[View, list[Row], int]) -> None:
    view, rows, last = filled
    given = client.ask(f"/views/{view.name}/objects/late", min_offset=last)
    assert (given["state"], given["member"], given["valid_from"]) == ("waiting", False, START + 10**9)
    waiting = [held for held in known_after(view, rows).values() if held.record.valid_from > clock_after(rows)]
    assert client.ask(f"/views/{view.name}")["waiting"] == len(waiting)


def test_an_object_that_is_not_there(client: Client, filled: tuple[View, list[Row], int]) -> None:
    view, _, last = filled
    problem = client.ask(f"/views/{view.name}/objects/nobody", 404, min_offset=last)
    assert problem["type"] == "/problems/not-found"
    assert (problem["offset"], problem["history"]) == (last, [])


def test_keys_may_hold_any_text(stack: Stack, client: Client) -> None:
    view = stack.view("keys")
    keys = ["a/b", "a b", "ü/?#%", "..", "."]
    last = stack.publish(view, [(key.encode(), b'{"price":1,"distance":1,"rating":1}', START) for key in keys])
    given = client.ask(f"/views/{view.name}/skyline", min_offset=last)
    assert {member["key"] for member in given["members"]} == set(keys)
    for key in keys:
        assert client.ask(f"/views/{view.name}/objects", key=key)["key"] == key
    for key in keys[:3]:  # dots alone are taken out of paths by clients, as the standard asks
        assert client.ask(f"/views/{view.name}/objects/{quote(key, safe='')}")["key"] == key
