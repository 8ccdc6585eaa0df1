"""`python -m ingest generate` and `tick` on a real broker."""

from __future__ import annotations

import time
import urllib.request
from itertools import pairwise
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from ingest import generate, ticker
from ingest.files.tail import ends_of
from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings
from tests.ingest.harness import HOTELS, WINDOW, Source, eventually, objects, records, views_file

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("contained")]


@pytest.fixture
def common(kafka: KafkaSettings, unique: str, tmp_path: Path) -> list[str]:
    spot = {"dimensions": {"price": "min", "interruptions": "min", "vcpus": "max"}, "group_by": ["region"]}
    views = views_file(tmp_path, **{unique: HOTELS, f"{unique}-spot": spot, f"{unique}-window": WINDOW})
    return ["--bootstrap", kafka.bootstrap, "--views", str(views)]


def test_counted_updates_are_the_same_again(kafka: KafkaSettings, unique: str, common: list[str]) -> None:
    command = [*common, "--view", unique, "--workload", "esc", "--start", "1700000000000", "--rate", "0"]
    for _ in range(2):
        assert generate.main([*command, "--count", "7000", "--objects", "500"]) == 0
    written = records(kafka, f"{unique}.updates")
    assert len(written) == 14_000
    assert written[:7000] == written[7000:]


def test_the_market_and_a_window(kafka: KafkaSettings, unique: str, common: list[str]) -> None:
    assert generate.main([*common, "--view", f"{unique}-spot", "--count", "300", "--rate", "0"]) == 0
    assert len(records(kafka, f"{unique}-spot.updates")) == 300
    window = [*common, "--view", f"{unique}-window", "--workload", "window", "--count", "50", "--rate", "0"]
    assert generate.main(window) == 0
    assert [key for key, _, _ in records(kafka, f"{unique}-window.updates")] == [None] * 50


def test_a_rate_is_kept_in_event_time_and_the_run_ends_in_time(
    kafka: KafkaSettings, unique: str, common: list[str]
) -> None:
    started = time.time() * 1000
    assert generate.main([*common, "--view", unique, "--workload", "lookout", "--rate", "200", "--seconds", "0.5"]) == 0
    times = [at for _, _, at in records(kafka, f"{unique}.updates")]
    assert 10 <= len(times) <= 110
    assert [b - a for a, b in pairwise(times)] == [5] * (len(times) - 1)
    assert started <= times[0] <= time.time() * 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workload", "market"], r"does not fit view .*: dimension rating is missing; esc, lookout and"),
        (["--workload", "chess"], "--workload must be one of market, esc, lookout, window, snapshots, got 'chess'"),
        (["--distribution", "odd"], "--distribution must be one of independent, normal"),
        (["--rate", "-1"], "--rate must be 0 or more, got -1"),
        (["--rate", "inf"], "--rate must be 0 or more, got inf"),
        (["--seconds", "nan"], "--seconds must be 0 or more, got nan"),
        (["--objects", "0"], "--objects must be at least 1"),
    ],
)
def test_what_cannot_be_generated(unique: str, common: list[str], arguments: list[str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        generate.main([*common, "--view", unique, *arguments])


def test_lookout_does_not_fit_a_window(unique: str, common: list[str]) -> None:
    with pytest.raises(InvalidInput, match="--workload lookout does not fit view"):
        generate.main([*common, "--view", f"{unique}-window", "--workload", "lookout"])


def test_a_view_must_be_named_where_there_are_several(common: list[str]) -> None:
    with pytest.raises(InvalidInput, match="--view is needed: which of "):
        generate.main(common)


def test_ticks_go_to_every_view_until_a_signal(
    kafka: KafkaSettings, unique: str, common: list[str], tmp_path: Path
) -> None:
    before = time.time() * 1000
    source = Source(tmp_path, "tick", *common, "--interval", "0.05")
    topics = [f"{unique}.updates", f"{unique}-spot.updates", f"{unique}-window.updates"]
    admin = AdminClient(kafka.client())
    eventually(lambda: topics[-1] in admin.list_topics(timeout=10).topics, "topics")
    eventually(lambda: ends_of(kafka, topics[-1])[1] > 2, "ticks")
    assert source.stop() == 0, source.text
    for topic in topics:
        written = records(kafka, topic)
        assert set(objects(written)) == {("$tick", None)}
        times = [at for _, _, at in written]
        assert times == sorted(times)
        assert before <= times[0] <= times[-1] <= time.time() * 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--interval", "0"], "--interval"),
        (["--interval", "nan"], "--interval"),
        (["--view", "x"], "no view 'x'"),
        (["--metrics-port", "99999"], "--metrics-port must be a port, 0 to 65535, or -1 for none, got 99999"),
    ],
)
def test_ticks_that_make_no_sense(common: list[str], arguments: list[str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ticker.main([*common, *arguments])


def test_a_generator_that_runs_on_has_metrics_and_ends_on_a_signal(
    unique: str, common: list[str], tmp_path: Path
) -> None:
    command = ["--view", unique, "--workload", "snapshots", "--rate", "500", "--metrics-port", "0"]
    source = Source(tmp_path, "generate", *common, *command)
    eventually(lambda: "metrics at http://" in source.text, "an address for metrics")
    address = source.text.partition("metrics at ")[2].split()[0]

    def sent() -> float:
        with urllib.request.urlopen(address, timeout=10) as page:
            lines = page.read().decode().splitlines()
        counts = [line for line in lines if line.startswith("skyline_ingest_sent_total{")]
        return float(counts[0].split()[-1]) if counts else 0.0

    eventually(lambda: sent() > 0, "updates sent")
    assert source.stop() == 0, source.text
    assert f"{unique}: " in source.text
    assert "updates sent" in source.text
