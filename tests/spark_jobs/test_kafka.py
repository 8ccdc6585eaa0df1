"""Settings and offsets as the jobs ask for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings
from spark_jobs import kafka as kafka_module
from spark_jobs.cli import JobError
from spark_jobs.kafka import Kafka, Span, Topics, java_settings


def test_the_services_settings_are_those_of_the_java_client(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.pem" for name in ("ca", "certificate", "key")}
    for name, file in files.items():
        file.write_text(f"PEM of {name}")
    settings = java_settings(
        {f"ssl.{name}.location": str(file) for name, file in files.items()}
        | {"sasl.mechanisms": "SCRAM-SHA-512", "sasl.username": "me", "sasl.password": 'a"b'}
        | {"ssl.endpoint.identification.algorithm": "none", "client.id": "report"}
    )
    assert settings == {
        "ssl.truststore.certificates": "PEM of ca",
        "ssl.truststore.type": "PEM",
        "ssl.keystore.certificate.chain": "PEM of certificate",
        "ssl.keystore.key": "PEM of key",
        "ssl.keystore.type": "PEM",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        r'username="me" password="a\"b";',
        "ssl.endpoint.identification.algorithm": "",
        "client.id": "report",
    }
    assert 'a"b' not in repr(Kafka("broker:9092", settings))
    with pytest.raises(InvalidInput, match=r"ssl.ca.location: .*nowhere.pem is not a PEM file that can be read"):
        java_settings({"ssl.ca.location": str(tmp_path / "nowhere.pem")})


@pytest.mark.kafka
@pytest.mark.spark
def test_topics_are_there_and_have_one_partition(
    spark: SparkSession, topics: Kafka, kafka: KafkaSettings, unique: str
) -> None:
    admin = AdminClient(kafka.client())
    admin.create_topics([NewTopic(unique, 2)])[unique].result(30)
    with Topics(spark, topics) as known:
        assert known.spans(unique) == {0: Span(0, 0), 1: Span(0, 0)}
        with pytest.raises(JobError, match=rf"topic {unique} has 2 partitions: that of a view has one"):
            known.span(unique)
        with pytest.raises(JobError, match=rf"topic {unique}x does not exist at {topics.bootstrap}"):
            known.span(f"{unique}x")


@pytest.mark.kafka
@pytest.mark.spark
def test_a_transaction_that_is_open_is_waited_for(
    spark: SparkSession, topics: Kafka, kafka: KafkaSettings, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end reaches one topic after the other: an audit must not read one with it and the next without."""
    admin = AdminClient(kafka.client())
    admin.create_topics([NewTopic(unique, 1)])[unique].result(30)
    producer = Producer(kafka.client(transactional_id=unique))
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(unique, b"open")
    assert producer.flush(30) == 0
    with Topics(spark, topics) as known:
        assert known.span(unique) == Span(0, 0)
        with monkeypatch.context() as hurried:
            hurried.setattr(kafka_module, "_PATIENCE_SECONDS", 0.0)
            with pytest.raises(JobError, match=r"a transaction at offset 0 is neither committed nor aborted"):
                known.decided(unique)
        looks = iter([lambda: producer.commit_transaction(30)])
        monkeypatch.setattr(kafka_module, "sleep", lambda _: next(looks, lambda: None)())
        assert known.decided(unique).past == 2  # the record, and the mark of its transaction
