"""The committer: what is published together, what waits, and who hears of a failure."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from maintainer import runner as runner_module
from maintainer.committer import Committer
from maintainer.config import MaintainerConfig
from maintainer.output import Out, Output
from maintainer.runner import Runner
from maintainer.transactions import PublishFailed
from skyline.runtime.config import KafkaSettings
from skyline.runtime.metrics import Metrics
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from tests.maintainer.harness import publish
from tests.maintainer.process import eventually


class Held:
    """Stands for the transactions: each commit waits until it is let through, or fails."""

    def __init__(self) -> None:
        self.retries = 0
        self.outputs: list[Output] = []
        self.failure: Exception | None = None
        self._begun, self._let = threading.Semaphore(0), threading.Semaphore(0)

    def commit(self, output: Output) -> None:
        self._begun.release()
        assert self._let.acquire(timeout=60)
        if self.failure is not None:
            raise self.failure
        self.outputs.append(output)

    def wait_begun(self) -> None:
        assert self._begun.acquire(timeout=60)

    def let(self, count: int = 1) -> None:
        self._let.release(count)


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def committer(held: Held) -> Committer:
    return Committer(held, Metrics(CollectorRegistry()), "view", 0)  # type: ignore[arg-type]


def output(position: int, records: int = 1) -> Output:
    made = Output(position, position, 0, 0, 0, updates=1)
    made.records += [Out("topic", b"%d" % position, b"", 1)] * records
    return made


def test_what_comes_during_a_commit_is_published_together_by_the_next(held: Held, committer: Committer) -> None:
    committer.submit(output(1))
    held.wait_begun()
    for position in (2, 3, 4):
        committer.submit(output(position))
    assert committer.busy
    assert committer.committed == 0
    held.let(2)
    assert committer.wait_committed(4)
    committer.wait_idle()
    assert [(made.position, len(made.records), made.updates) for made in held.outputs] == [(1, 1, 1), (4, 3, 3)]
    committer.close()


def test_offsets_without_records_are_not_held_back_for_ever(held: Held, committer: Committer) -> None:
    held.let(1)
    committer.submit(output(7, records=0))
    assert not committer.busy  # nobody need wait for it
    assert committer.wait_committed(7)
    committer.close()


def test_closing_publishes_what_waits(held: Held, committer: Committer) -> None:
    committer.submit(output(1, records=0))
    held.let(1)
    committer.close()
    assert [made.position for made in held.outputs] == [1]


def test_a_failure_reaches_everyone_who_asks(held: Held, committer: Committer) -> None:
    committer.submit(output(1))
    committer.check()
    held.failure = PublishFailed("the broker is gone")
    held.let(1)
    assert not committer.wait_committed(1)
    assert not committer.busy
    committer.wait_idle()
    for call in (committer.check, committer.close, lambda: committer.submit(output(2))):
        with pytest.raises(PublishFailed, match="the broker is gone"):
            call()


@pytest.mark.kafka
def test_a_failed_commit_ends_the_runner_though_no_update_follows(
    kafka: KafkaSettings, unique: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(runner_module.Transactions):
        def commit(self, output: Output) -> None:
            raise PublishFailed(f"nothing before {output.position} is published")

    monkeypatch.setattr(runner_module, "Transactions", Broken)
    view = View.of(unique, {"dimensions": {"price": "min"}})
    ensure_topics(kafka, view)
    publish(kafka, view.topic("updates"), [(b"a", b'{"price":1}', 1)])
    quiet = KafkaSettings(kafka.bootstrap, {"log_level": "0"})  # its producers outlive the broker
    config = MaintainerConfig(quiet, state=tmp_path)
    runner = Runner(view, config, lambda: None, Metrics(CollectorRegistry()))
    runner.start()
    eventually(lambda: runner.failure is not None, "the failure is noticed")
    runner.join()
    assert str(runner.failure) == "nothing before 1 is published"
    assert runner.committed is None


def test_large_records_wait_for_the_commit_sooner(held: Held, committer: Committer) -> None:
    committer.submit(output(1))
    held.wait_begun()
    large = output(2)
    large.records.append(Out("topic", b"large", bytes(65 * 2**20), 1))
    committer.submit(large)
    assert committer.full
    later = threading.Thread(target=committer.submit, args=(output(3),))
    later.start()
    held.let(3)
    later.join()
    assert committer.wait_committed(3)
    committer.close()
    assert [made.position for made in held.outputs] == [1, 2, 3]
