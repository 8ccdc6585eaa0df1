"""A broker that stands still and comes back: nobody waits without end, and no answer says more than is true."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local.broker import Broker
from ingest.check import Checker
from ingest.delivery import DeliveryFailed
from ingest.files.formats import open_file
from ingest.files.layout import Layout
from ingest.files.progress import ProgressFile
from ingest.files.report import Report
from ingest.files.run import FileRun
from ingest.files.tail import Tail
from ingest.publisher import Publisher
from ingest.startup import new_metrics
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import ensure_topics
from tests.ingest.harness import HOTELS, SLOWLY, Source, eventually, objects, records, view_of, views_file
from tests.ingest.http_service import Service, http_service, problem

pytestmark = pytest.mark.kafka
FIELDS = {"price": 80.0, "rating": 4.1, "city": "Rome"}


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker for this module alone, since its tests disturb it."""
    broker = Broker(tmp_path_factory.mktemp("fragile"), dies_with_parent=True)
    broker.start()
    yield broker
    broker.stop()


@contextmanager
def paused(broker: Broker) -> Iterator[None]:
    """Stands still within the block: connections stay, answers do not come."""
    pid = broker.pid()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def update(key: str) -> dict[str, Any]:
    return {"key": key, "value": FIELDS}


def test_a_paused_broker_means_429_and_then_all_is_written(fragile: Broker, unique: str, tmp_path: Path) -> None:
    views = views_file(tmp_path, **{unique: HOTELS})
    limits = [
        "--max-lag",
        "0.5",
        "--max-batch",
        "50",
        "--max-in-flight",
        "100",
        "--max-held",
        "20000",
        "--max-body",
        "9000",
    ]
    with http_service(tmp_path, fragile.address, views, *limits) as service, ThreadPoolExecutor(4) as pool:
        assert service.post(unique, update("before")).status_code == 200
        with paused(fragile):
            waiting = [pool.submit(service.post, unique, [update(f"w{n}-{i}") for i in range(40)]) for n in range(2)]
            _wait_until_under_way(service, 80)
            # 20 more would fit, 21 do not
            answer = service.post(unique, [update("too many")] * 21)
            assert (
                problem(answer, 429, "busy")["detail"] == "80 updates are under way to the broker, at most 100 may be"
            )
            assert answer.headers["retry-after"] == "1"
            eventually(lambda: service.client.get("/readyz").status_code == 503, "not ready")
            assert "the broker has not acknowledged anything for " in service.client.get("/readyz").text
            assert service.client.get("/healthz").status_code == 200
            answer = service.post(unique, update("late"))
            assert "not acknowledged anything for" in problem(answer, 429, "busy")["detail"]
            assert int(answer.headers["retry-after"]) >= 1
            assert not any(future.done() for future in waiting)
        answers = [future.result(60) for future in waiting]
        assert [answer.status_code for answer in answers] == [200, 200]
        eventually(lambda: service.client.get("/readyz").status_code == 200, "ready again")
        assert service.post(unique, update("after")).status_code == 200
        assert service.metric(f'skyline_ingest_requests_total{{status="429",view="{unique}"}}') == 2
        assert service.metric("skyline_ingest_in_flight") == 0
        _bodies_that_do_not_arrive_are_bounded_too(service, unique)
    written = objects(records(KafkaSettings(fragile.address), f"{unique}.updates"))
    keys = [key for key, _ in written if key != "$tick"]
    assert len(keys) == 83
    assert (keys[0], keys[-2], keys[-1]) == ("before", "after", "room again")


def test_updates_that_are_not_acknowledged_in_time_are_said_to_be_unknown(
    fragile: Broker, unique: str, tmp_path: Path
) -> None:
    views = views_file(tmp_path, **{unique: HOTELS})
    with http_service(tmp_path, fragile.address, views, "--timeout", "1") as service:
        with paused(fragile):
            answer = service.post(unique, [update("a"), {"key": "b", "value": {}}])
        document = problem(answer, 503, "not_written")
        assert answer.headers["retry-after"] == "1"
        assert [(e["index"], e["reason"]) for e in document["errors"]] == [(0, "not_written"), (1, "missing_field")]
        assert "may or may not be written" in document["errors"][0]["detail"]
        eventually(lambda: service.post(unique, update("c")).status_code == 200, "written again")


def test_a_signal_lets_requests_under_way_be_answered(fragile: Broker, unique: str, tmp_path: Path) -> None:
    views = views_file(tmp_path, **{unique: HOTELS})
    with http_service(tmp_path, fragile.address, views) as service, ThreadPoolExecutor(1) as pool:
        with paused(fragile):
            waiting = pool.submit(service.post, unique, update("a"))
            _wait_until_under_way(service, 1)
            service.source.process.terminate()
            eventually(lambda: _refuses_connections(service), "no new connections")
        answer = waiting.result(30)
        assert answer.status_code == 200, answer.text
        assert service.source.end() == 0
    (offset,) = answer.json()["offsets"]
    assert objects(records(KafkaSettings(fragile.address), f"{unique}.updates", offset)) == [("a", FIELDS)]


def test_a_signal_ends_the_process_although_the_broker_is_away(fragile: Broker, unique: str, tmp_path: Path) -> None:
    views = views_file(tmp_path, **{unique: HOTELS})
    with http_service(tmp_path, fragile.address, views) as service, ThreadPoolExecutor(1) as pool, paused(fragile):
        waiting: Future[httpx.Response] = pool.submit(service.post, unique, update("a"))
        _wait_until_under_way(service, 1)
        assert service.source.stop() == 0, service.source.text
        problem(waiting.result(5), 503, "not_written")
    assert "Traceback" not in service.source.text


def test_files_wait_for_a_broker_that_stands_still(fragile: Broker, unique: str, tmp_path: Path) -> None:
    views = views_file(tmp_path, **{unique: HOTELS})
    file = tmp_path / "f.csv"
    rows = 60_000  # more than the producer's queue holds
    file.write_text("key,price,rating,city\n" + "".join(f"k{i},1,2,x\n" for i in range(rows)))
    state = tmp_path / "state"
    command = ["--bootstrap", fragile.address, "--views", str(views), "--state", str(state), str(file)]
    source = Source(tmp_path, "file", *command, *SLOWLY)
    eventually(lambda: any(b'"rows": 0' not in saved.read_bytes() for saved in state.glob("*.json")), "progress")
    with paused(fragile):
        assert source.stop(10) == 1, source.text
    assert "interrupted, run it again to go on" in source.text
    again = Source(tmp_path, "file", *command)
    assert again.end(120) == 0, again.text
    keys = [key for key, _ in objects(records(KafkaSettings(fragile.address), f"{unique}.updates"))]
    assert keys == [f"k{i}" for i in range(rows)]


def test_a_run_that_fails_says_how_to_go_on(fragile: Broker, unique: str, tmp_path: Path) -> None:
    kafka, view, stop = KafkaSettings(fragile.address), view_of(unique), threading.Event()
    ensure_topics(kafka, view, ("updates",))
    file = tmp_path / "f.csv"
    file.write_text("key,price,rating,city\n" + "".join(f"k{i},1,2,x\n" for i in range(10)))
    layout = Layout.of(view)
    progress = ProgressFile(tmp_path, file, view.topic("updates"), layout.fingerprint())
    report = Report(view.name, new_metrics())
    publisher = Publisher(kafka, 1.0, stop)
    with open_file(file, layout) as reader, paused(fragile):
        tail = Tail(iter(()), compare_time=False)
        run = FileRun(reader, view.topic("updates"), Checker(view), publisher, report, progress, tail, stop)
        with pytest.raises(DeliveryFailed, match=r"f\.csv: after row 0: .* run the command again to go on from there"):
            run.send(0, 0)
    saved = progress.load()
    assert saved is not None
    assert (saved.rows, saved.offset) == (0, 0)
    assert report.sent == 0


def _bodies_that_do_not_arrive_are_bounded_too(service: Service, view: str) -> None:
    def turned_away() -> bool:
        with _slow_body(service, view, 8500), _slow_body(service, view, 8500):
            return service.post(view, b'{"key": "$tick"}' + b" " * 4000).status_code == 429

    eventually(turned_away, "no room")
    eventually(lambda: service.post(view, update("room again")).status_code == 200, "room again")


def _wait_until_under_way(service: Service, count: int) -> None:
    eventually(lambda: service.metric("skyline_ingest_in_flight") == count, f"{count} updates under way")


def _refuses_connections(service: Service) -> bool:
    try:
        httpx.get(f"http://127.0.0.1:{service.port}/healthz", timeout=5)
    except httpx.ConnectError:
        return True
    return False


@contextmanager
def _slow_body(service: Service, view: str, size: int) -> Iterator[None]:
    """A request whose body does not come."""
    with socket.create_connection(("127.0.0.1", service.port)) as slow:
        head = f"POST /views/{view}/updates HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        slow.sendall(f"{head}Content-Length: {size}\r\n\r\n[".encode())
        yield
