"""Kill the maintainers at every point, restart the broker under load: what is published stays the same, to the byte."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings
from tests.maintainer.chaos import Feeder, Life, Restarts
from tests.maintainer.crashing import POINTS
from tests.maintainer.harness import Row, check_published, committed, publish, read_all, read_headers, updates

pytestmark = pytest.mark.kafka
VIEWS = 5
PATIENCE = 120.0
"""Seconds within which the next kill or restart must come: otherwise something is stuck."""


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker that this test may kill."""
    broker = Broker(tmp_path / "kafka", dies_with_parent=True)
    broker.start()
    yield broker
    broker.stop()


@pytest.mark.timeout(7200)
def test_kills_do_not_show(broker: Broker, unique: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    kafka = KafkaSettings(broker.address)
    lives, feeder = begin(kafka, tmp_path, unique)
    try:
        kill(lives, kills=pytestconfig.getoption("--soak"))
    finally:
        end(lives, feeder)
    check(kafka, lives)
    assert "by itself" not in all_deaths(lives), "\n".join(life.logs()[-2000:] for life in lives)


@pytest.mark.timeout(7200)
def test_broker_restarts_do_not_show(own_broker: Broker, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    count = pytestconfig.getoption("--soak") // 10
    kafka = KafkaSettings(own_broker.address)
    lives, feeder = begin(kafka, tmp_path, "view")
    restarts = Restarts(own_broker, feeder, count)
    try:
        try:
            kill_while(lives, restarts, count)
        finally:
            end(lives, feeder)
        check(kafka, lives)
    finally:
        restarts.close()


def begin(kafka: KafkaSettings, home: Path, name: str) -> tuple[list[Life], Feeder]:
    """Views without a maintainer yet, under load."""
    lives = [Life(kafka, home, f"{name}{i}", seed=i) for i in range(VIEWS)]
    return lives, Feeder(kafka, [life.view.topic("updates") for life in lives], updates(seed=11, count=200_000))


def end(lives: list[Life], feeder: Feeder) -> None:
    for life in lives:
        life.end()
    feeder.stop()


def check(kafka: KafkaSettings, lives: list[Life]) -> None:
    """Each view published, to the byte, what an undisturbed run over the same updates publishes; and it is right."""
    for life in lives:
        rows = read_all(kafka, life.view.topic("updates"))
        calm = Life(kafka, life.home, f"calm-{life.view.name}")
        assert published(kafka, life, rows) == published(kafka, calm, rows)
        check_published(kafka, life.view, rows)
        assert not list((life.home / "state").glob("*.unfinished"))
        print(f"{life.view.name}: {len(rows)} updates, ends of its maintainers: {dict(life.deaths)}")


def kill(lives: list[Life], kills: int) -> None:
    """Lets maintainers die until so many did, and each point has had its share."""
    patience = Patience()
    while (deaths := all_deaths(lives)).total() < kills or set(POINTS) - set(deaths):
        for life in lives:
            life.tend(sorted(set(POINTS) - set(deaths)))
        patience.check(deaths.total(), lives)


def kill_while(lives: list[Life], restarts: Restarts, count: int) -> None:
    """Lets maintainers die until the broker was restarted so many times."""
    patience = Patience()
    while restarts.done < count:
        for life in lives:
            life.tend(list(POINTS))
        patience.check(restarts.done, lives)


class Patience:
    """Ends a test in which nothing happens any more."""

    def __init__(self) -> None:
        self._seen, self._since = -1, time.monotonic()

    def check(self, happened: int, lives: list[Life]) -> None:
        if happened != self._seen:
            self._seen, self._since = happened, time.monotonic()
        assert time.monotonic() < self._since + PATIENCE, "\n".join(life.logs()[-2000:] for life in lives)
        time.sleep(0.01)


def all_deaths(lives: list[Life]) -> Counter[str]:
    return sum((life.deaths for life in lives), Counter[str]())


def published(kafka: KafkaSettings, life: Life, rows: list[Row]) -> list[object]:
    """Everything that subscribers of the view can read once all is committed: changes and rejects record by record, but
    for headers that name the topic; of V.skyline the newest per key, for Kafka compacts it when it likes."""
    topics = life.view.topic
    if not read_all(kafka, topics("updates")):
        publish(kafka, topics("updates"), rows)
    with life.undisturbed() as maintainer:
        maintainer.until(lambda: committed(kafka, life.view.name) == len(rows), "all committed")
        assert maintainer.stop() == 0, maintainer.text()
    reasons = [headers[:2] + headers[3:] for headers in read_headers(kafka, topics("rejected"))]
    newest = {key: (value, at) for key, value, at in read_all(kafka, topics("skyline"))}
    members = {key: member for key, member in newest.items() if member[0] is not None}
    return [read_all(kafka, topics("changes")), members, read_all(kafka, topics("rejected")), reasons]
