"""One query service and one maintainer for all tests of this directory, on the session's broker."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.topics import ensure_topics
from tests.query.harness import Client, Query, Stack, views_file


@pytest.fixture(scope="session")
def stack(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The services over views of every kind; a test takes one that no other test writes to."""
    home = tmp_path_factory.mktemp("query")
    kafka = KafkaSettings(broker.address)
    views = views_file(home, prefix=f"q{uuid.uuid4().hex[:8]}-")
    for view in load_views(views).values():
        ensure_topics(kafka, view)
    running = Stack(kafka, views, home)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def query(stack: Stack) -> Query:
    return stack.query


@pytest.fixture
def client(query: Query) -> Iterator[Client]:
    with Client(query.address) as client:
        yield client
