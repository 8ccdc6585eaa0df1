"""Mistakes are answered with what is allowed; no request can hold the service."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from skyline.runtime.config import KafkaSettings
from tests.query.harness import Client, Query, Stack, updates

pytestmark = pytest.mark.kafka

MISTAKES = [
    "where=cost<3", "where=price", "where=price<=cheap", "where=price<=nan", "where=price<2&where=price>3",
    "where=price<-inf", "dims=price,colour", "dims=price,price", "dims=", "rank=price", "rank=price:-1",
    "rank=price:inf", "rank=colour:1", "near=price:inf", "near=:3", "k=0", "k=1001", "k=many", "group=city:Paris",
    "enumerate=perhaps", "approximate=0", "approximate=5&k=2", "as_of=yesterday", "as_of=99999999999999999",
    "as_of=0&dims=price", "last=3", "between=1,2", "limit=0", "limit=-1", "min_offset=-1", "colour=red",
    "k=2&k=3", "rank=price:1&rank=rating:1",
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_explained(stack: Stack, client: Client, mistake: str) -> None:
    response = client.get(f"/views/{stack.view('plain0').name}/skyline?{mistake}")
    assert response.status_code == 400, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == 400
    assert problem["parameter"] in mistake
    assert all(problem[field] for field in ("type", "title", "detail", "allowed", "example", "instance"))


def test_a_wrong_type_is_explained_by_its_own_parameter(stack: Stack, client: Client) -> None:
    path = f"/views/{stack.view('plain0').name}"
    problem = client.ask(f"{path}/skyline", 400, k="many")
    assert (problem["parameter"], problem["allowed"], problem["example"]) == ("k", "a whole number", "k=3")
    assert client.ask(f"{path}/skyline", 400, k=1001)["allowed"] == "up to 1000"
    problem = client.ask(f"{path}/history", 400)
    assert (problem["detail"], problem["example"]) == ("key: it must be given", "key=h7")


def test_what_was_given_is_repeated_in_short(stack: Stack, client: Client) -> None:
    path = f"/views/{stack.view('plain0').name}/skyline"
    for mistake in ({"where": "price" * 10_000}, {"dims": "x" * 50_000}, {"y" * 50_000: "1"}):
        response = client.get(path, params=mistake)
        assert response.status_code == 400
        assert len(response.content) < 2_000


def test_what_is_not_there(stack: Stack, client: Client) -> None:
    assert stack.view("plain0").name in client.ask("/views/nothing", 404)["allowed"]
    assert client.ask("/nothing", 404)["type"] == "/problems/no-such-route"
    assert client.get("/views/").json()["type"] == "/problems/no-such-route", "and nobody is sent elsewhere"
    assert client.post("/views").status_code == 405
    assert client.post("/views").headers["content-type"] == "application/problem+json"


def test_operations(stack: Stack, client: Client) -> None:
    assert client.get("/healthz").text == "ok\n"
    assert client.get("/readyz").text == "ok\n"
    assert [client.head(path).status_code for path in ("/healthz", "/readyz", "/")] == [200] * 3
    name = stack.view("plain0").name
    client.ask(f"/views/{name}/skyline")
    metrics = client.get("/metrics").text
    assert f'skyline_query_requests_total{{route="/views/{{view}}/skyline",status="200",view="{name}"}}' in metrics
    assert f'skyline_query_offset{{view="{name}"}}' in metrics
    assert {view["view"] for view in client.ask("/views")["views"]} == set(stack.views)


def test_names_that_clients_make_up_do_not_become_series(client: Client) -> None:
    for path in ("/views/made-up/skyline", "/views/made-up/skyline?colour=red", "/views/made-up/history"):
        assert client.get(path).status_code in (400, 404)
    assert "made-up" not in client.get("/metrics").text


def test_results_time_and_requests_are_bounded(kafka: KafkaSettings, stack: Stack, tmp_path: Path) -> None:
    """With one thread, no queue and hardly any time, requests are turned away with a reason; plain ones go on."""
    view = stack.view("limited")
    last = stack.publish(view, updates(seed=41, count=500))
    query = Query(
        kafka, stack.path, tmp_path, "--only", view.name, "--workers", "1", "--queue", "0", "--max-results", "3",
        "--time-limit", "0.000001",
    )  # fmt: skip
    query.wait_ready()
    path = f"/views/{view.name}/skyline"
    with Client(query.address) as client:
        assert client.ask(path, 413, min_offset=last)["type"] == "/problems/too-large"
        assert client.ask(path, 413, limit=4)["allowed"] == "answers of up to 3 members"
        assert client.ask(path, limit=3)["count"] == 3
        lines = client.get(path, headers={"Accept": "application/x-ndjson"}).text.splitlines()
        assert len(lines) > 3 + 2, "line by line there is no limit of size"
        slow = client.get(path, params={"k": 500})
        assert (slow.status_code, slow.json()["type"]) == (503, "/problems/too-slow")
        assert slow.headers["retry-after"]
        statuses = asyncio.run(_storm(query.address + path))
        assert set(statuses) == {"/problems/too-slow", "/problems/too-busy"}
        assert client.ask(path, limit=3)["count"] == 3
    assert query.stop() == 0


async def _storm(url: str) -> list[str]:
    async with httpx.AsyncClient(timeout=60) as client:
        answers = await asyncio.gather(*(client.get(url, params={"k": 500}) for _ in range(60)))
    return [answer.json()["type"] for answer in answers]


def test_the_page_is_served(client: Client) -> None:
    plotly = client.get("/static/plotly.min.js")
    assert plotly.status_code == 200
    assert len(plotly.content) > 1_000_000
    assert int(plotly.headers["content-length"]) < len(plotly.content) / 2, "it goes compressed"
    plain = client.get("/static/plotly.min.js", headers={"Accept-Encoding": "identity"})
    assert plain.content == plotly.content
    assert client.get("/static/..%2Fapp.py").status_code == 404
    assert client.get("/static/app.py").status_code == 404
