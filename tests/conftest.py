"""Fixtures that every test can use: one real broker per run, and names that no other test has."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings

# the machine is shared: how long an example takes says nothing
settings.register_profile("default", deadline=None)
settings.load_profile("default")

HERE: Final = Path(__file__).parent
TOGETHER: Final = ("spark_jobs", "query")
LONGEST: Final = ("spark_jobs", "maintainer/test_crashes.py", "deploy/test_monitoring.py", "query")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak", type=int, nargs="?", const=1000, default=50, metavar="KILLS",
        help="how often maintainers are killed, and ten times as often as the broker is restarted: see make soak",
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For runs in several processes (`-n`): what shares dear fixtures stays in one of them, the longest begins first.

    Most tests wait for brokers, clocks and processes: three processes keep two cores busy.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    items.sort(key=lambda item: LONGEST.index(_group(item)) if _group(item) in LONGEST else len(LONGEST))


def _group(item: pytest.Item) -> str:
    """A file's tests share its fixtures; those of two directories share a Spark session and a stack of services."""
    place = item.path.relative_to(HERE)
    return place.parts[0] if place.parts[0] in TOGETHER else str(place)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A real Kafka for the whole run. Tests that stop or kill a broker start one of their own."""
    running = Broker(tmp_path_factory.mktemp("kafka"), dies_with_parent=True)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def kafka(broker: Broker) -> KafkaSettings:
    return KafkaSettings(broker.address)


@pytest.fixture
def unique() -> str:
    """A name for topics, views and groups that no other test uses."""
    return f"t{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the clone."""
    return Path(__file__).parent.parent
