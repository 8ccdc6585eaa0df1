"""One Spark session for all tests of the jobs, as small as Spark gets."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from skyline.runtime.config import KafkaSettings
from spark_jobs.kafka import Kafka
from spark_jobs.session import local_settings, open_session

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """pyspark does not close the sockets over which results come: that is not our tests' to mend."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(autouse=True)
def _sockets_go_now() -> Iterator[None]:
    """Collects pyspark's forgotten sockets before the next test, which may not be one of Spark's."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in local_settings(kafka=True).items():
        builder = builder.config(name, value)
    builder.config("spark.driver.memory", "2g").config("spark.sql.shuffle.partitions", "3").getOrCreate()
    session = open_session("tests")
    gateway: Any = session.sparkContext._gateway
    yield session
    session.stop()
    # Spark leaves its JVM to the end of the process, where Python warns about it
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


@pytest.fixture
def topics(kafka: KafkaSettings) -> Kafka:
    """The test broker as the jobs see it."""
    return Kafka(kafka.bootstrap)
