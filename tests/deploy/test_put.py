"""`skyline put`: one update, checked, written, and where."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from deploy.cli.__main__ import main
from skyline.errors import InvalidInput, SkylineError
from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from tests.ingest.harness import HOTELS, WINDOW, objects, records, views_file


class Put:
    """`skyline put` to one view of hotels, or to a window."""

    def __init__(self, kafka: KafkaSettings, name: str, directory: Path) -> None:
        self.kafka, self.name = kafka, name
        self.views = views_file(directory, **{name: HOTELS, f"{name}-w": WINDOW})

    def __call__(self, *words: str, view: str = "") -> int:
        where = ["--views", str(self.views), "--bootstrap", self.kafka.bootstrap]
        return main(["put", f"{self.name}{view}", *words, *where])


@pytest.fixture
def put(kafka: KafkaSettings, unique: str, tmp_path: Path) -> Put:
    return Put(kafka, unique, tmp_path)


@pytest.fixture
def ready(put: Put) -> Put:
    for view in load_views(put.views).values():
        ensure_topics(put.kafka, view, ("updates",))
    return put


@pytest.mark.kafka
def test_updates_of_every_kind(ready: Put, unique: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = int(time.time() * 1000)
    assert ready("h1", "price=80", "rating=4.5", "city=Rome", "name=A = B", "--at", "1700000000000") == 0
    assert ready("h1", "--op", "add", "price=-5") == 0
    assert ready("h1", "--delete", "--at", "2026-11-18T06:41:00Z") == 0
    assert ready("$tick") == 0
    assert ready("a=b", "--delete") == 0
    assert capsys.readouterr().out == "".join(f"{unique}.updates offset {offset}\n" for offset in range(5))
    written = records(ready.kafka, f"{unique}.updates")
    assert objects(written) == [
        ("h1", {"price": 80, "rating": 4.5, "city": "Rome", "name": "A = B"}),
        ("h1", {"$op": "add", "price": -5}),
        ("h1", None),
        ("$tick", None),
        ("a=b", None),
    ]
    times = [at for _, _, at in written]
    assert (times[0], times[2]) == (1_700_000_000_000, 1_794_984_060_000)
    assert before <= times[1] <= times[3] <= int(time.time() * 1000)


@pytest.mark.kafka
def test_elements_of_a_window(ready: Put, unique: str) -> None:
    assert ready("price=1", "volume=2", view="-w") == 0
    assert ready("", "price=3", "volume=4", view="-w") == 0
    assert ready("named", "price=1", "volume=2", view="-w") == 0
    assert objects(records(ready.kafka, f"{unique}-w.updates")) == [
        (None, {"price": 1, "volume": 2}), (None, {"price": 3, "volume": 4}), ("named", {"price": 1, "volume": 2}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["h1", "price=1", "rating=2"], "not sent: group field city is missing"),
        (["h1", "price=cheap", "rating=2", "city=x"], 'not sent: price must be a number, .* got "cheap"'),
        (["price=1", "rating=2", "city=x"], "not sent: an update needs a key"),
        ([], "not sent: an update needs a key"),
        (["h1", "price"], "fields are NAME=VALUE, such as price=80, got 'price'"),
        (["h1", "=1"], "fields are NAME=VALUE"),
        (["h1", "price=1", "rateing=2"], r"view .* has no field 'rateing'; its fields are: price, rating, city, name"),
        (["h1", "price=1", "--delete"], "--delete takes a key and nothing else"),
        (["h1", "--delete", "--op", "add"], "--delete takes a key and nothing else"),
        (["h1", "--delete", "--at", "soon"], '--at: "soon" is not ISO 8601'),
        (["h1", "--delete", "--at", "1960-01-01"], "not after 1970"),
        (["h1", "--delete", "--kafka", "nonsense=1"], "no producer can be made with these settings: .*nonsense"),
    ],
)
def test_mistakes_are_not_sent(unique: str, tmp_path: Path, words: list[str], message: str) -> None:
    put = Put(KafkaSettings("127.0.0.1:1"), unique, tmp_path)
    with pytest.raises(InvalidInput, match=message):
        put(*words)


@pytest.mark.kafka
def test_a_topic_that_is_not_there(put: Put, unique: str) -> None:
    with pytest.raises(
        SkylineError, match=rf"not written to {unique}\.updates at .*[Uu]nknown.*the maintainer creates it"
    ):
        put("h1", "--delete")


def test_no_broker(unique: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deploy.cli.put._SECONDS", 0.5)
    put = Put(KafkaSettings("127.0.0.1:1"), unique, tmp_path)
    with pytest.raises(SkylineError, match=r"^not sent: no broker answers at 127\.0\.0\.1:1: run `skyline up`"):
        put("h1", "--delete")
