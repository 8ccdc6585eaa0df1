"""Answers while updates flow: each is the skyline of exactly the prefix that its offset names."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import orjson
import pytest

from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from tests.query.expected import Asked, answer, clock_after, live_after
from tests.query.harness import START, Client, Publisher, Query, Row, Stack, updates

pytestmark = pytest.mark.kafka
QUESTIONS = [
    Asked(), Asked(where=[("price", "<=", 25.0)]), Asked(dims=["price", "rating"]), Asked(k=2),
    Asked(rank={"price": 0.5, "distance": 0.5}), Asked(near={"price": 12.0}),
]  # fmt: skip


def test_an_answer_is_that_of_its_prefix(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    views = tmp_path / "views.toml"
    views.write_text(f'[{unique}]\ndimensions = {{ price = "min", distance = "min", rating = "max" }}\n')
    view = load_views(views)[unique]
    ensure_topics(kafka, view)
    rows = updates(seed=21, count=4000, objects=40)
    publisher = Publisher(kafka)
    publisher.publish(view, rows[:200])
    query = Query(kafka, views, tmp_path)
    query.wait_ready()
    answers: list[tuple[Asked, dict]] = []
    feeding = threading.Thread(target=_feed, args=(publisher, view, rows, answers))
    feeding.start()
    with Client(query.address) as client:
        while not answers or answers[-1][1]["offset"] < len(rows) - 1:
            asked = QUESTIONS[len(answers) % len(QUESTIONS)]
            answers.append((asked, client.ask(f"/views/{unique}/skyline", **asked.parameters())))
    feeding.join()
    assert query.stop() == 0
    between = [given for _, given in answers if 200 <= given["offset"] < len(rows) - 1]
    assert len({given["offset"] for given in between}) > 20, "too few answers were given while updates flowed"
    for asked, given in answers[:: max(1, len(answers) // 150)]:
        prefix = rows[: given["offset"] + 1]
        expected = [key for key, _ in answer(view, live_after(view, prefix), asked)]
        found = [member["key"] for member in given["members"]]
        assert found == (sorted(expected) if asked == Asked() else expected)
        assert given["clock"] == clock_after(prefix)


def _feed(publisher: Publisher, view: View, rows: list[Row], answers: list[tuple[Asked, dict]]) -> None:
    """Publishes stretch by stretch, and every eight waits for a new offset in the answers."""
    for stretch, start in enumerate(range(200, len(rows), 20)):
        deadline = time.monotonic() + 120
        while len({given["offset"] for _, given in list(answers)}) < stretch // 8 and time.monotonic() < deadline:
            time.sleep(0.005)
        publisher.publish(view, rows[start : start + 20])


def test_you_read_your_own_writes(stack: Stack, client: Client) -> None:
    view = stack.view("plain2")
    for i in range(20):
        value = {"price": -i, "distance": 0, "rating": i}
        offset = stack.publish(view, [(b"mine", orjson.dumps(value), START)])
        given = client.ask(f"/views/{view.name}/objects/mine", min_offset=offset)
        assert given["offset"] >= offset
        assert given["point"] == value
        members = client.ask(f"/views/{view.name}/skyline", min_offset=offset)["members"]
        assert [member["point"] for member in members if member["key"] == "mine"] == [value]


def test_an_offset_that_does_not_come(stack: Stack, client: Client) -> None:
    view = stack.view("plain2")
    last = stack.publish(view, [(b"$tick", None, START)])
    short = client.ask(f"/views/{view.name}/skyline", min_offset=last)
    assert short["offset"] == last
    problem = client.ask(f"/views/{view.name}/skyline", 412, min_offset=last + 1)
    assert problem["parameter"] == "min_offset"
    assert f"the last one is {last}" in problem["detail"]
