"""Topics as Spark reads them: options, offsets, and records up to a fixed end.

Offsets, committed groups and missing topics are asked with the Kafka client that is in the connector's own jars, with
the connector's own settings: a cluster needs no other client.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from py4j.java_gateway import JavaPackage
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from skyline.errors import InvalidInput
from spark_jobs.cli import JobError

_PREFIX: Final = "SKYLINE_KAFKA_"
_TIMEOUT_MS: Final = "20000"
_PATIENCE_SECONDS: Final = 60.0
"""How long a transaction may stay open: the broker aborts those of the maintainer after 30 s."""

_POLL_SECONDS: Final = 0.05
_LARGE_POLLS: Final = {"kafka.max.poll.records": "10000", "kafka.max.partition.fetch.bytes": str(8 << 20)}
"""Spark asks the broker for the topic's first and last offset with every poll: so there should be few."""


@dataclass(frozen=True)
class Kafka:
    """Where the brokers are, with settings of the Java client; secrets are not shown."""

    bootstrap: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    def options(self) -> dict[str, str]:
        """Options of Spark's source. Only committed records count: the maintainer publishes in transactions."""
        fixed = {"kafka.bootstrap.servers": self.bootstrap, "kafka.isolation.level": "read_committed"}
        return _LARGE_POLLS | {f"kafka.{name}": value for name, value in self.settings.items()} | fixed


@dataclass(frozen=True)
class Span:
    """Offsets [first, past) of one partition."""

    first: int
    past: int

    def __len__(self) -> int:
        return self.past - self.first


def add_kafka(made: argparse.ArgumentParser) -> None:
    """--bootstrap and --kafka NAME=VALUE, as the services have them."""
    default = os.environ.get("SKYLINE_BOOTSTRAP") or "127.0.0.1:9092"
    made.add_argument("--bootstrap", default=default, help="brokers, host:port,... (SKYLINE_BOOTSTRAP)")
    made.add_argument(
        "--kafka", action="append", default=[], metavar="NAME=VALUE", help="a client setting (SKYLINE_KAFKA_*)"
    )


def kafka_of(arguments: argparse.Namespace) -> Kafka:
    """Kafka settings of the environment, overridden by flags."""
    given = {
        name.removeprefix(_PREFIX).lower().replace("_", "."): value
        for name, value in os.environ.items()
        if name.startswith(_PREFIX)
    }
    for pair in arguments.kafka:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise InvalidInput("--kafka takes NAME=VALUE, such as --kafka security.protocol=SSL")
        given[name] = value
    return Kafka(arguments.bootstrap, java_settings(given))


def java_settings(given: Mapping[str, str]) -> dict[str, str]:
    """The services' librdkafka settings as the Java client calls them; all others are passed on as they are.

    Certificates and keys are read here and handed on as text: the workers of a cluster have no such files.

    >>> java_settings({"sasl.mechanisms": "PLAIN", "client.id": "report"})
    {'client.id': 'report', 'sasl.mechanism': 'PLAIN'}
    """
    settings = dict(given)
    if "sasl.mechanisms" in settings:
        settings["sasl.mechanism"] = settings.pop("sasl.mechanisms")
    if "sasl.username" in settings and "sasl.password" in settings:
        user, password = settings.pop("sasl.username"), settings.pop("sasl.password")
        module = "plain.Plain" if settings.get("sasl.mechanism", "PLAIN") == "PLAIN" else "scram.Scram"
        settings["sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.{module}LoginModule required "
            f"username={json.dumps(user)} password={json.dumps(password)};"
        )
    for theirs, ours, store in _PEM:
        if theirs in settings:
            settings[ours] = _read_pem(theirs, settings.pop(theirs))
            settings[store] = "PEM"
    if settings.get("ssl.endpoint.identification.algorithm") == "none":
        settings["ssl.endpoint.identification.algorithm"] = ""
    return settings


_PEM: Final = (
    ("ssl.ca.location", "ssl.truststore.certificates", "ssl.truststore.type"),
    ("ssl.certificate.location", "ssl.keystore.certificate.chain", "ssl.keystore.type"),
    ("ssl.key.location", "ssl.keystore.key", "ssl.keystore.type"),
)
"""Setting of librdkafka, which names a file; setting of the Java client, which takes its text; and its kind."""


def _read_pem(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{name}: {path} is not a PEM file that can be read: {error}") from None


class Topics:
    """What the broker knows about topics and groups."""

    def __init__(self, spark: SparkSession, kafka: Kafka) -> None:
        self._jvm: Any = spark._jvm
        self._kafka = kafka
        client = self._jvm.org.apache.kafka.clients.admin.AdminClient
        if isinstance(client, JavaPackage):  # what py4j makes of a class that is not there
            raise JobError(
                "Spark's Kafka connector is not on the class path: start spark-submit with "
                "--packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
            )
        settings = self._jvm.java.util.Properties()
        for name, value in {**kafka.settings, "bootstrap.servers": kafka.bootstrap}.items():
            settings.put(name, value)
        for name in ("request.timeout.ms", "default.api.timeout.ms"):
            settings.put(name, _TIMEOUT_MS)
        self._admin = client.create(settings)

    def close(self) -> None:
        self._admin.close()

    def __enter__(self) -> Topics:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def span(self, topic: str) -> Span:
        """First and next offset of the committed log of a view's topic, as of now. Such a topic has one partition."""
        spans = self.spans(topic)
        if len(spans) > 1:
            raise JobError(f"topic {topic} has {len(spans)} partitions: that of a view has one")
        return spans[0]

    def decided(self, topic: str) -> Span:
        """`span`, once every transaction is decided that had sent a record there by now.

        A transaction ends on one topic after the other: what is committed on one may still be open on the next.
        """
        self.span(topic)
        sent = self._offsets(topic, [0], self._spec.latest(), "READ_UNCOMMITTED")[0]
        deadline = monotonic() + _PATIENCE_SECONDS
        while (found := self.span(topic)).past < sent:
            if monotonic() > deadline:
                raise JobError(f"topic {topic}: a transaction at offset {found.past} is neither committed nor aborted")
            sleep(_POLL_SECONDS)
        return found

    def spans(self, topic: str) -> dict[int, Span]:
        """First and next offset of every partition of the committed log, as of now."""
        names = self._jvm.java.util.ArrayList()
        names.add(topic)
        described = self._ask(lambda: self._admin.describeTopics(names).topicNameValues().get(topic), topic)
        numbers = sorted(int(info.partition()) for info in described.partitions())
        firsts = self._offsets(topic, numbers, self._spec.earliest())
        ends = self._offsets(topic, numbers, self._spec.latest())
        return {number: Span(firsts[number], ends[number]) for number in numbers}

    def committed(self, group: str, topic: str) -> int | None:
        """The offset after the last record that this consumer group has committed, or None."""
        answer = self._ask(lambda: self._admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata(), topic)
        position = answer.get(self._partition(topic, 0))
        return None if position is None else int(position.offset())

    @property
    def _spec(self) -> Any:
        return self._jvm.org.apache.kafka.clients.admin.OffsetSpec

    def _offsets(self, topic: str, numbers: list[int], spec: Any, isolation: str = "READ_COMMITTED") -> dict[int, int]:
        wanted = self._jvm.java.util.HashMap()
        for number in numbers:
            wanted.put(self._partition(topic, number), spec)
        level = self._jvm.org.apache.kafka.common.IsolationLevel.valueOf(isolation)
        options = self._jvm.org.apache.kafka.clients.admin.ListOffsetsOptions(level)
        answer = self._ask(lambda: self._admin.listOffsets(wanted, options).all(), topic)
        return {number: int(answer.get(self._partition(topic, number)).offset()) for number in numbers}

    def _partition(self, topic: str, number: int) -> Any:
        return self._jvm.org.apache.kafka.common.TopicPartition(topic, number)

    def _ask(self, question: Callable[[], Any], topic: str) -> Any:
        try:
            return question().get()
        except Py4JJavaError as error:
            cause = error.java_exception.getCause() or error.java_exception
            kind = cause.getClass().getSimpleName()
            if kind == "UnknownTopicOrPartitionException":
                raise JobError(f"topic {topic} does not exist at {self._kafka.bootstrap}") from None
            if kind == "TimeoutException":
                raise JobError(
                    f"no answer from {self._kafka.bootstrap} about topic {topic}: is the address right, does the "
                    f"broker run, are the security settings its own?"
                ) from None
            raise JobError(f"{self._kafka.bootstrap} refuses, {kind}: {cause.getMessage()}") from None


def records(spark: SparkSession, kafka: Kafka, topic: str, span: Span | Mapping[int, Span]) -> DataFrame:
    """The committed records of `span` (of partition 0, or one for each), in as many tasks as there are cores.

    Columns as Spark's source has them: key, value, topic, partition, offset, timestamp, timestampType.
    """
    spans = {0: span} if isinstance(span, Span) else span
    starts = {str(number): given.first for number, given in spans.items()}
    ends = {str(number): given.past for number, given in spans.items()}
    reader = spark.read.format("kafka").options(**kafka.options()).option("subscribe", topic)
    reader = reader.option("startingOffsets", json.dumps({topic: starts}))
    reader = reader.option("endingOffsets", json.dumps({topic: ends}))
    return reader.option("minPartitions", spark.sparkContext.defaultParallelism).load()
