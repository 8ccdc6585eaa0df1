"""What the archive tells Prometheus is what Spark did."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client import CollectorRegistry
from pyspark.sql import SparkSession

from deploy.local.ports import free_port
from skyline.runtime.config import KafkaSettings
from spark_jobs.archive import Pace, archive, follow
from spark_jobs.archive_metrics import ArchiveMetrics
from spark_jobs.kafka import Kafka
from tests.spark_jobs.market import Market, random_updates, view_of

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


def test_batches_are_counted_once_and_served(
    spark: SparkSession, topics: Kafka, kafka: KafkaSettings, unique: str, tmp_path: Path
) -> None:
    market = Market(kafka, view_of(unique))
    market.publish(random_updates(1, 100))
    before = time.time()
    registry = CollectorRegistry()
    topic = {"topic": market.view.topic("updates")}
    metrics = ArchiveMetrics(registry, topic.values())
    assert registry.get_sample_value("skyline_archive_records_total", topic) == 0
    begun = registry.get_sample_value("skyline_archive_time_seconds", topic)
    assert begun is not None
    assert begun >= before
    pace = Pace(batch=60, compact=False)
    follow([archive(spark, topics, market.view, "updates", str(tmp_path), pace)], metrics)
    port = free_port()
    metrics.serve("127.0.0.1", port)
    assert registry.get_sample_value("skyline_archive_records_total", topic) == len(market.updates)
    assert registry.get_sample_value("skyline_archive_offset", topic) == len(market.updates)
    at = registry.get_sample_value("skyline_archive_time_seconds", topic)
    assert at is not None
    assert before - 1 <= at <= time.time()
    with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
        assert b"process_start_time_seconds" in answer.read()
