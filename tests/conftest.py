"""Fixtures that every test can use: one real broker per run, and names that no other test has."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings

# xdist tells its workers the width of a terminal; a test that needs one says so
os.environ.pop("COLUMNS", None)

# the machine is shared: how long an example takes says nothing
settings.register_profile("default", deadline=None)
settings.load_profile("default")

TOGETHER: Final = ("tests/spark_jobs/", "tests/query/")
LONGEST: Final = (
    "tests/spark_jobs/", "tests/maintainer/test_crashes.py", "tests/deploy/test_monitoring.py", "tests/query/",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak", type=int, nargs="?", const=1000, default=50, metavar="KILLS",
        help="how often maintainers are killed, and ten times as often as the broker is restarted: see make soak",
    )  # fmt: skip


class GroupScheduling(LoadScopeScheduling):
    """For runs in several processes (`-n`): what shares dear fixtures stays in one of them."""

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling:
    return GroupScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest begin first."""
    items.sort(key=lambda item: LONGEST.index(group) if (group := _group(item.nodeid)) in LONGEST else len(LONGEST))


def _group(nodeid: str) -> str:
    """A file's tests share its fixtures; those of two directories share a Spark session and a stack of services."""
    file = nodeid.partition("::")[0]
    return next((place for place in TOGETHER if file.startswith(place)), file)


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
