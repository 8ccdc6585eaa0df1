"""Window views: the newest elements, stretches, and every other question over what is in the window."""

from __future__ import annotations

import random

import orjson
import pytest

from skyline.view import View
from tests import naive
from tests.query.harness import START, Client, Row, Stack

pytestmark = pytest.mark.kafka


def elements(seed: int, count: int) -> list[Row]:
    """Elements with and without keys, ticks and rejects between them."""
    rng = random.Random(seed)
    rows: list[Row] = []
    now = START
    for _ in range(count):
        now += rng.choice([0, 1, 7, 20])
        key = rng.choice([None, b"a", b"b", b"c"])
        fields = {"price": rng.randrange(40), "distance": rng.random(), "rating": rng.randrange(9), "name": "x"}
        value: bytes | None = orjson.dumps(fields)
        if rng.random() < 0.05:
            key, value = b"$tick", None
        elif rng.random() < 0.05:
            value = b'{"price": 1}'
        rows.append((key, value, now))
    return rows


def good(view: View, rows: list[Row]) -> list[tuple[str, list[float], int]]:
    """(name, inward point, event time) of every element, oldest first."""
    found = []
    for offset, (key, value, at) in enumerate(rows):
        fields = orjson.loads(value) if value else {}
        if "rating" in fields:
            name = f"{key.decode()}@{offset}" if key else str(offset)
            point = [float(fields[dimension]) for dimension in view.dimensions.names]
            found.append((name, view.dimensions.inward([point])[0].tolist(), at))
    return found


def test_a_window_by_size(stack: Stack, client: Client) -> None:
    view, rows = stack.view("newest"), elements(3, 900)
    last = stack.publish(view, rows)
    stream = good(view, rows)
    names, points = [name for name, _, _ in stream], [point for _, point, _ in stream]
    path = f"/views/{view.name}/skyline"
    for n in (1, 7, 50, 100):
        given = client.ask(path, last=n, min_offset=last)
        assert [member["key"] for member in given["members"]] == [names[i] for i in naive.window_skyline(points, n)]
        assert given["offset"] == last
    for near, far in ((1, 100), (5, 5), (20, 80), (99, 100)):
        given = client.ask(path, between=f"{near},{far}")
        expected = [names[i] for i in naive.between_skyline(points, near, far)]
        assert [member["key"] for member in given["members"]] == expected
    whole = client.ask(path)
    assert {member["key"] for member in whole["members"]} == {names[i] for i in naive.window_skyline(points, 100)}
    assert client.ask(f"/views/{view.name}")["objects"] == 100
    client.until_published(view, whole["seq"])
    ranked = client.ask(path, last=100, rank="price:1", limit=2)
    prices = sorted(points[i][0] for i in naive.window_skyline(points, 100))
    assert [member["score"] for member in ranked["members"]] == prices[:2]


def test_other_questions_are_over_what_is_in_the_window(stack: Stack, client: Client) -> None:
    view, rows = stack.view("recent"), elements(4, 900)
    last = stack.publish(view, rows)
    clock = max(at for _, _, at in rows)
    stream = good(view, rows)
    inside = [(name, point) for name, point, at in stream if at + 1000 > clock]
    path = f"/views/{view.name}/skyline"
    band = client.ask(path, k=3, min_offset=last)
    expected = {inside[i][0] for i in naive.skyband([point for _, point in inside], 3)}
    assert {member["key"] for member in band["members"]} == expected
    cheap = [(name, point) for name, point in inside if point[0] <= 20]
    given = client.ask(path, where="price<=20")
    assert {member["key"] for member in given["members"]} == {
        cheap[i][0] for i in naive.skyline([point for _, point in cheap])
    }
    assert given["clock"] == clock
    recent = [(name, point) for name, point, at in stream if at + 300 > clock]
    newest = client.ask(path, last="300ms")
    assert [member["key"] for member in newest["members"]] == [
        recent[i][0] for i in naive.skyline([point for _, point in recent])
    ]
    old = [(name, point) for name, point, at in stream if 100 <= clock - at + 1 <= 500]
    stretch = client.ask(path, between="100,500")
    assert [member["key"] for member in stretch["members"]] == [
        old[i][0] for i in naive.skyline([point for _, point in old])
    ]
    explained = client.ask(f"/views/{view.name}/objects/{inside[0][0]}")
    assert explained["member"] == (inside[0][0] in {member["key"] for member in client.ask(path)["members"]})


@pytest.mark.parametrize(
    ("view", "parameters"),
    [("newest", {"last": 101}), ("newest", {"last": "1s"}), ("newest", {"between": "5,4"}), ("recent", {"last": "2s"}),
     ("plain0", {"last": 5}), ("newest", {"last": 5, "k": 2})],
)  # fmt: skip
def test_what_does_not_fit_a_window(stack: Stack, client: Client, view: str, parameters: dict[str, object]) -> None:
    problem = client.ask(f"/views/{stack.view(view).name}/skyline", 400, **parameters)
    assert problem["parameter"] in parameters
    assert problem["allowed"]
    assert problem["example"]
