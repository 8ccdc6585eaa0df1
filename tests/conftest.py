"""Fixtures that every test can use: one real broker per run, and names that no other test has."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings

# the machine is shared: how long an example takes says nothing
settings.register_profile("default", deadline=None)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak", type=int, nargs="?", const=1000, default=50, metavar="KILLS",
        help="how often maintainers are killed, and ten times as often as the broker is restarted: see make soak",
    )  # fmt: skip


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
