"""An audit calls a right view right, and finds whatever was planted in its logs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from skyline.runtime.config import KafkaSettings
from skyline.wire.updates import write_update
from spark_jobs.audit import main
from spark_jobs.cli import JobError
from spark_jobs.kafka import Kafka
from tests.spark_jobs.market import START, Market, random_updates, view_of, views_toml

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.usefixtures("spark")]


@pytest.fixture
def market(kafka: KafkaSettings, unique: str) -> Market:
    made = Market(kafka, view_of(unique))
    made.publish(random_updates(1, 150))
    made.abort()
    made.publish(random_updates(2, 100, start=made.updates[-1][2]))
    return made


class Audit:
    """One run of the job: its exit code, what it printed, and the differences by (check, key)."""

    def __init__(self, spark: SparkSession, topics: Kafka, market: Market, scratch: Path, *options: str) -> None:
        views, out = views_toml(scratch, market.view), scratch / "differences"
        command = ["--views", str(views), "--bootstrap", topics.bootstrap, "--out", str(out), "--overwrite", *options]
        self.code = main(command)
        self.found = {(row["check"], row.key): row for row in spark.read.parquet(str(out)).collect()}


def record(kind: str, seq: int, key: str, **fields: Any) -> bytes:
    """A change or member that the maintainer did not write."""
    common = {"seq": seq, "key": key, "point": {"price": 0.5, "rating": 9.0}, "at": START, "offset": 3}
    extra = {"op": "enter", "reason": "inserted", "by": key, "partition": 0, "size": 9} if kind == "changes" else {}
    return orjson.dumps(common | {"group": {"city": "oslo"}, "carry": {"label": None}} | extra | fields)


def test_a_right_view_is_right(
    spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(market.members()) > 3
    audit = Audit(spark, topics, market, tmp_path)
    assert (audit.code, audit.found) == (0, {})
    printed = capsys.readouterr().out
    assert f"{len(market.updates)} updates" in printed
    assert f"{len(market.members())} members\nRIGHT" in printed


@pytest.mark.parametrize("window", [{"size": 20}, {"span": "3h"}])
def test_a_right_window_view_is_right(
    spark: SparkSession, topics: Kafka, kafka: KafkaSettings, unique: str, tmp_path: Path, window: dict[str, Any]
) -> None:
    market = Market(kafka, view_of(unique, window=window))
    market.publish(random_updates(3, 150))
    audit = Audit(spark, topics, market, tmp_path)
    assert (audit.code, audit.found) == (0, {})


def test_planted_members_and_losses_are_found(
    spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    last = market.changes[-1].seq
    lost, altered = sorted(market.members())[:2]
    price, rating = market.members()[altered]
    market.produce("skyline", b"ghost", record("skyline", last, "ghost"))
    market.produce("skyline", lost.encode(), None)
    market.produce(
        "skyline", altered.encode(), record("skyline", last, altered, point={"price": price, "rating": rating + 1})
    )
    audit = Audit(spark, topics, market, tmp_path)
    assert audit.code == 1
    assert set(audit.found) == {("skyline", "ghost"), ("skyline", lost), ("skyline", altered)}
    assert audit.found["skyline", "ghost"].expected is None
    assert audit.found["skyline", "ghost"].found.startswith("[0.5, 9.0]")
    assert audit.found["skyline", lost].found is None
    assert "WRONG: 3 differences" in capsys.readouterr().out


def test_a_maintainer_that_errs_in_all_its_topics_is_found(
    spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path
) -> None:
    """V.changes and V.skyline agree with each other: only the updates say otherwise."""
    last, lost = market.changes[-1].seq, min(market.members())
    market.produce("changes", b"ghost", record("changes", last + 1, "ghost"))
    market.produce("skyline", b"ghost", record("skyline", last + 1, "ghost"))
    market.produce("changes", lost.encode(), record("changes", last + 2, lost, op="leave", reason="deleted"))
    market.produce("skyline", lost.encode(), None)
    audit = Audit(spark, topics, market, tmp_path)
    assert audit.code == 1
    assert set(audit.found) == {("updates", "ghost"), ("updates", lost)}


def test_gaps_and_contradictions_are_found(spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path) -> None:
    last, member = market.changes[-1].seq, min(market.members())
    market.produce("changes", b"late", record("changes", last + 3, "late", op="leave", reason="deleted", offset=10**6))
    market.produce("changes", member.encode(), record("changes", last + 3, member, offset=10**6))
    audit = Audit(spark, topics, market, tmp_path)
    assert audit.code == 1
    sequence = [row for row in audit.found.values() if row["check"] == "seq"]
    assert any(f"a gap before seq {last + 3}" in row.found for row in sequence) or any(
        "2 times" in row.found for row in sequence
    )
    assert audit.found["changes", "late"].found == f"seq {last + 3}: leave of no member before it"
    assert audit.found["changes", member].found == f"seq {last + 3}: enter of a member before it"


def test_a_gap_alone_is_found(spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path) -> None:
    last = market.changes[-1].seq
    for seq, op in ((last + 2, "enter"), (last + 3, "leave")):
        market.produce("changes", b"brief", record("changes", seq, "brief", op=op))
    audit = Audit(spark, topics, market, tmp_path)
    assert (audit.code, set(audit.found)) == (1, {("seq", "brief")})
    assert audit.found["seq", "brief"].found == f"a gap before seq {last + 2}"


def test_only_what_is_committed_counts(spark: SparkSession, topics: Kafka, market: Market, tmp_path: Path) -> None:
    """Updates that the maintainer has not seen yet are not held against it."""
    market._send([(b"new", write_update({"price": 0.1, "rating": 99, "city": "oslo"}), market.updates[-1][2])])
    assert Audit(spark, topics, market, tmp_path).code == 0
    later = Audit(spark, topics, market, tmp_path, "--offset", str(len(market.updates) + 1))
    assert later.code == 1
    assert ("updates", "new") in later.found


def test_what_cannot_be_audited_is_said(
    topics: Kafka, market: Market, kafka: KafkaSettings, tmp_path: Path, unique: str
) -> None:
    command = ["--bootstrap", topics.bootstrap, "--views"]
    other = dataclasses.replace(market.view, name=f"{unique}x")
    with pytest.raises(JobError, match=rf"topic {unique}x.updates does not exist"):
        main([*command, str(views_toml(tmp_path, other))])
    views = str(views_toml(tmp_path, market.view))
    with pytest.raises(JobError, match=rf"offset 9999 lies outside of {unique}.updates"):
        main([*command, views, "--offset", "9999"])
    admin = AdminClient(kafka.client())
    place = TopicPartition(market.view.topic("updates"), 0, 7)
    admin.delete_records([place])[place].result(30)
    with pytest.raises(JobError, match=rf"{unique}.updates is truncated: it begins at offset 7"):
        main([*command, views])
