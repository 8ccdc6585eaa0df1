"""Every table of a view's past is what a walk through its changes says."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from maintainer.state import new_state
from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings
from skyline.wire.changes import ChangeRecord, read_change
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from spark_jobs import history
from spark_jobs.changes import read_changes
from spark_jobs.cli import JobError
from spark_jobs.history_report import report
from spark_jobs.kafka import Kafka
from tests import naive
from tests.spark_jobs.market import Market, random_updates, view_of, views_toml

pytestmark = pytest.mark.spark

HOUR = 3_600_000


@pytest.fixture(scope="module")
def records() -> list[tuple[bytes, ChangeRecord]]:
    """The changes that the maintainer's code makes of random updates, as bytes and read back."""
    view = view_of("v")
    rows = [(key, value, at, offset) for offset, (key, value, at) in enumerate(random_updates(7, 400))]
    output = new_state(view).apply(UpdateDecoder(view).decode(Records.of(rows)))
    values = [out.value for out in output.records if out.topic == "v.changes" and out.value is not None]
    return [(value, read_change(value)) for value in values]


@pytest.fixture(scope="module")
def changes(spark: SparkSession, records: list[tuple[bytes, ChangeRecord]]) -> DataFrame:
    rows = [("v.changes", seq, bytearray(value)) for seq, (value, _) in enumerate(records)]
    logged = spark.createDataFrame(rows, "topic string, offset bigint, value binary").repartition(3)
    return read_changes(logged, "v").localCheckpoint()


@pytest.fixture(scope="module")
def log(records: list[tuple[bytes, ChangeRecord]]) -> list[ChangeRecord]:
    return [record for _, record in records]


Stay = dict[str, Any]


def stays_of(log: list[ChangeRecord]) -> list[Stay]:
    """One by one, by hand."""
    stays: list[Stay] = []
    current: dict[str, Stay] = {}
    for change in log:
        if change.op == "enter":
            current[change.key] = {
                "key": change.key, "enter_seq": change.seq, "entered_at": change.at, "enter_reason": change.reason,
                "enter_by": change.by, "first_point": change.point, "last_point": change.point, "moves": 0,
                "left_at": None, "leave_seq": None, "leave_reason": None, "leave_by": None,
            }  # fmt: skip
            stays.append(current[change.key])
        elif change.op == "move":
            stay = current[change.key]
            stay["moves"] += 1
            stay["last_point"] = change.point
        else:
            stay = current.pop(change.key)
            stay |= {"left_at": change.at, "leave_seq": change.seq, "leave_reason": change.reason}
            stay |= {"leave_by": change.by, "last_point": change.point}
    return stays


def milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)


def test_memberships(changes: DataFrame, log: list[ChangeRecord]) -> None:
    expected = stays_of(log)
    assert any(stay["moves"] for stay in expected)
    rows = {row.enter_seq: row.asDict() for row in history.memberships(changes).collect()}
    assert len(rows) == len(expected)
    for stay in expected:
        row = rows[stay["enter_seq"]]
        row |= {name: milliseconds(row[name]) for name in ("entered_at", "left_at")}
        assert {name: row[name] for name in stay} == stay
        end = log[-1].at if stay["left_at"] is None else stay["left_at"]
        assert row["lasted"] == (end - stay["entered_at"]) / 1000


def test_a_log_that_begins_later_has_stays_from_before(changes: DataFrame, log: list[ChangeRecord]) -> None:
    cut = len(log) // 2
    inside = {change.key for change in log[:cut] if change.op == "enter"}
    before = naive.as_of([(c.seq, c.op, c.key) for c in log], cut)
    touched_later = {change.key for change in log[cut:]}
    rows = history.memberships(changes.where(f"seq > {cut}")).collect()
    old = {row.key for row in rows if row.entered_at is None}
    assert old == before & touched_later
    assert inside
    assert all(row.lasted is None for row in rows if row.entered_at is None)


def test_as_of_any_time(changes: DataFrame, log: list[ChangeRecord]) -> None:
    walked = [(change.at, change.op, change.key) for change in log]
    for at in (log[0].at - 1, log[len(log) // 3].at, log[len(log) // 2].at + 1, log[-1].at):
        rows = history.as_of(changes, datetime.fromtimestamp(at / 1000, UTC)).collect()
        assert {row.key for row in rows} == naive.as_of(walked, at)
        for row in rows:
            newest = [c for c in log if c.key == row.key and c.at <= at][-1]
            assert (row.seq, row.point) == (newest.seq, newest.point)


def test_longest_and_lifetimes_and_displacements(changes: DataFrame, log: list[ChangeRecord]) -> None:
    expected = stays_of(log)
    stays = history.memberships(changes).localCheckpoint()
    totals: Counter[str] = Counter()
    for stay in expected:
        totals[stay["key"]] += (stay["left_at"] if stay["left_at"] is not None else log[-1].at) - stay["entered_at"]
    rows = history.longest(stays).collect()
    assert [(row.key, round(row.total * 1000)) for row in rows] == sorted(totals.items(), key=lambda o: (-o[1], o[0]))
    assert {row.key for row in rows if row.is_member} == {s["key"] for s in expected if s["left_at"] is None}
    over = [(s["left_at"] - s["entered_at"]) / 1000 for s in expected if s["left_at"] is not None]
    classes = history.lifetimes(stays).collect()
    assert sum(row.stays for row in classes) == len(over)
    for row in classes:
        assert row.stays == sum(row.at_least <= lasted < (row.below or float("inf")) for lasted in over)
    pairs = Counter((s["leave_by"], s["key"]) for s in expected if s["leave_reason"] == "dominated")
    assert {(row.by, row.key): row.times for row in history.displacements(stays).collect()} == dict(pairs)


def test_churn(changes: DataFrame, log: list[ChangeRecord]) -> None:
    rows = {milliseconds(row.period): row for row in history.churn(changes, HOUR).collect()}
    for period in {change.at // HOUR * HOUR for change in log}:
        inside = [change for change in log if change.at // HOUR * HOUR == period]
        row = rows.pop(period)
        counted = Counter(change.op for change in inside)
        assert (row.entered, row.moved, row.left) == (counted["enter"], counted["move"], counted["leave"])
        assert row.left_dominated == sum(c.op == "leave" and c.reason == "dominated" for c in inside)
        assert row.entered_promoted == sum(c.reason == "promoted" for c in inside)
        assert row.members == inside[-1].size
    assert not rows


def test_a_log_with_a_hole_is_refused(changes: DataFrame) -> None:
    assert history.check_complete(changes) == changes.count()
    with pytest.raises(JobError, match="the changes are not whole"):
        history.check_complete(changes.where("seq != 5"))
    with pytest.raises(JobError, match="the view has no past"):
        history.check_complete(changes.where("seq < 0"))


def test_members_of_a_log_without_its_beginning_are_not_guessed(
    changes: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = changes.where("seq > 20")
    assert history.check_complete(cut) == changes.count() - 20
    assert "the changes begin at seq 21" in capsys.readouterr().err
    with pytest.raises(JobError, match="the changes begin at seq 21: members who have not changed since are unknown"):
        history.check_complete(cut, from_start=True)


def test_the_report_tells_the_same(changes: DataFrame, log: list[ChangeRecord]) -> None:
    expected, facts = stays_of(log), report("v", changes)
    over = sorted((s["left_at"] - s["entered_at"]) / 1000 for s in expected if s["left_at"] is not None)
    middle = (over[(len(over) - 1) // 2] + over[len(over) // 2]) / 2
    assert facts["totals"] == {
        "changes": len(log), "stays": len(expected), "keys": len({s["key"] for s in expected}),
        "members": sum(s["left_at"] is None for s in expected), "median": middle,
    }  # fmt: skip
    assert len(facts["timeline"]) == len(expected)
    with pytest.raises(InvalidInput, match="a page shows 10,000 periods at most, these are"):
        report("v", changes, 1)
    assert sum(row["entered"] for row in facts["churn"]) == len(expected)


@pytest.mark.kafka
def test_the_job_reads_kafka_and_writes_a_page(
    spark: SparkSession, topics: Kafka, kafka: KafkaSettings, unique: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    market = Market(kafka, view_of(unique))
    market.publish(random_updates(1, 80))
    command = ["--views", str(views_toml(tmp_path, market.view)), "--bootstrap", topics.bootstrap]
    page = tmp_path / "page.html"
    assert history.main(["as-of", *command, "--report", str(page), "--limit", "100"]) == 0
    shown = capsys.readouterr().out
    assert all(key in shown for key in market.members())
    text = page.read_text()
    facts = json.loads(re.findall(r'<script id="facts"[^>]*>(.*?)</script>', text, re.DOTALL)[0])
    assert facts["totals"]["changes"] == len(market.changes)
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text.replace(plotly(), ""))
    out = tmp_path / "stays"
    assert history.main(["memberships", *command, "--out", str(out), "--format", "csv"]) == 0
    rows = spark.read.csv(str(out), header=True).collect()
    assert len(rows) == len(stays_of(market.changes))
    assert json.loads(rows[0].first_point).keys() == {"price", "rating"}


def test_mistakes_are_told_before_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    views = ["--views", str(views_toml(tmp_path, view_of("v")))]
    for arguments, told in (
        (["--report", str(tmp_path / "no" / "page.html")], "there is no directory"),
        (["churn", "--at", "1000"], "--at is for as-of"),
        ([], "name a table, or --report FILE"),
    ):
        with pytest.raises(SystemExit):
            history.main([*arguments, *views])
        assert told in capsys.readouterr().err


def plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def test_times_are_read_or_refused() -> None:
    assert history.moment("1970-01-01T00:00:01Z") == history.moment("1000")
    with pytest.raises(InvalidInput, match="is not ISO 8601"):
        history.moment("yesterday")
    for far in ("9007199254740992", "-9007199254740992"):
        with pytest.raises(InvalidInput, match="lies outside of the years 1 to 9999"):
            history.moment(far)
