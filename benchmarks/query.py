"""The query service under load: latencies while updates flow, many stream readers, and how fast it starts.

A real broker, a maintainer, the service, a producer and the clients all share this machine. `python -m benchmarks.query
[--quick] [--json FILE]`
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import psutil

from benchmarks.harness import Target, parse_arguments, write_json
from benchmarks.kit.serving import Readers, Steady, latencies, load
from deploy.local.broker import Broker, die_with_parent
from deploy.local.ports import free_port
from skyline.runtime.config import KafkaSettings, load_views
from skyline.runtime.drain import Drain
from skyline.runtime.topics import ensure_topics

RATE: Final = 20_000
VIEWS: Final = """
[crowd]
dimensions = { x = "min", y = "min", z = "min" }
[feed]
dimensions = { x = "min", y = "min", z = "min" }
"""
PATHS: Final[dict[str, tuple[Callable[[int], str], float]]] = {
    "skyline": (lambda _: "/views/crowd/skyline", 10.0),
    "constrained": (lambda i: f"/views/crowd/skyline?where=x>=0.{i % 7 + 1}&where=y<=0.9", 50.0),
    "subspace": (lambda i: f"/views/crowd/skyline?dims={('x,y', 'y,z', 'x,z')[i % 3]}", 50.0),
    "ranked": (lambda i: f"/views/crowd/skyline?rank=x:0.{i % 9 + 1},y:0.3,z:0.2&limit=10", 50.0),
    "explain": (lambda i: f"/views/crowd/objects/o{i * 7919 % 50_000}", 20.0),
}
"""What is asked, and the milliseconds that the 99th percentile may take."""


class Bench:
    """The processes of one run."""

    def __init__(self, home: Path, objects: int) -> None:
        self.home, self.objects = home, objects
        self.broker = Broker(home / "kafka", dies_with_parent=True)
        self.broker.start()
        self.kafka = KafkaSettings(self.broker.address)
        self.views = home / "views.toml"
        self.views.write_text(VIEWS)
        for view in load_views(self.views).values():
            ensure_topics(self.kafka, view)
        load(self.kafka, "crowd.updates", objects)
        self.maintainer = self._service("maintainer", "--state", str(home / "state"), "--metrics-port", "0")

    def query(self) -> tuple[subprocess.Popen[bytes], int, float]:
        """Starts the service; gives the process, its port, and the seconds until it is ready."""
        port = free_port()
        began = time.monotonic()
        process = self._service("query", "--port", str(port))
        while not _ready(port):
            assert process.poll() is None, (self.home / "query.log").read_text()[-2000:]
            time.sleep(0.05)
        return process, port, time.monotonic() - began

    def close(self) -> None:
        self.maintainer.terminate()
        self.maintainer.wait(30)
        self.broker.stop()

    def _service(self, module: str, *more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, "--bootstrap", self.kafka.bootstrap, "--views", str(self.views), *more]
        with (self.home / f"{module}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=die_with_parent)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse_arguments(__doc__ or "", argv)
    objects, seconds, readers = (50_000, 2.0, 200) if arguments.quick else (1_000_000, 20.0, 1_000)
    with tempfile.TemporaryDirectory(prefix="bench-query-") as home:
        bench = Bench(Path(home), objects)
        try:
            results, targets = _measure(bench, seconds, readers)
        finally:
            bench.close()
    for target in targets:
        print(target)
    if arguments.json:
        write_json(arguments.json, "query", {**results, "targets": [str(target) for target in targets]})
    return 0


def _measure(bench: Bench, seconds: float, readers: int) -> tuple[dict[str, Any], list[Target]]:
    # the machine is shared by the broker, the maintainer, the producer and the clients, and maybe by others still
    results: dict[str, Any] = {"objects": bench.objects, "load average": os.getloadavg()[0], "nice": os.nice(0)}
    process, port, _ = bench.query()
    targets = []
    try:
        results["latency"], more = _latencies(bench, port, seconds)
        targets += more
        results["readers"], more = _readers(bench, port, psutil.Process(process.pid), readers, max(seconds, 5.0))
        targets += more
    finally:
        process.terminate()
        assert process.wait(60) == 0, (bench.home / "query.log").read_text()[-2000:]
    results["start"], target = _start(bench)
    return results, [*targets, target]


def _latencies(bench: Bench, port: int, seconds: float) -> tuple[dict[str, Any], list[Target]]:
    """Latencies of each kind while updates flow, with the lag that they leave."""
    found: dict[str, Any] = {}
    targets: list[Target] = []
    with _updates(bench, "crowd.updates", RATE) as steady:
        rate = steady.rate(max(1.0, seconds / 4))
        for name, (path, wanted) in PATHS.items():
            latencies(port, path, 0.5)
            times = latencies(port, path, seconds)
            p50, p99 = np.percentile(times, [50, 99]).tolist()
            found[name] = {"requests": len(times), "p50": p50, "p99": p99, "max": max(times)}
            print(f"{name:12s} {len(times):5d} requests: p50 {p50:.2f} ms, p99 {p99:.2f} ms, max {max(times):.2f} ms")
            targets.append(Target(f"{name}, 99th percentile", wanted, p99, " ms"))
        lag = _get(port, "/views/crowd")["lag"]["updates"]
    found["updates per second"], found["lag"] = rate, lag
    print(f"{rate:,.0f} updates/s were sent meanwhile; {lag:,d} of them were not in at the end")
    targets.append(Target("updates per second meanwhile", RATE * 0.95, rate, at_least=True))
    return found, targets


def _readers(
    bench: Bench, port: int, process: psutil.Process, count: int, seconds: float
) -> tuple[dict[str, Any], list[Target]]:
    """Many streams at 100 changes a second: memory, lateness, and whether each got all."""
    before = process.memory_info().rss
    with _updates(bench, "feed.updates", 100, improving=True):
        _wait(lambda: _get(port, "/views/feed")["history"]["last"] > 0)
        readers = Readers(port, "/views/feed/changes", count)
        cpu = sum(process.cpu_times()[:2])
        time.sleep(seconds)
        cpu = (sum(process.cpu_times()[:2]) - cpu) / seconds
        held = _get(port, "/views/feed")["readers"]
        more = (process.memory_info().rss - before) / 2**20
        counts, late = readers.stop()
    p50, p99 = np.percentile(late, [50, 99]).tolist()
    found = {
        "readers": count, "held": held, "MB": more, "cpu": cpu, "changes per reader": [min(counts), max(counts)],
        "late p50 ms": p50, "late p99 ms": p99,
    }  # fmt: skip
    print(
        f"{held} streams, {min(counts)} to {max(counts)} changes each in {seconds:.0f} s, {more:.0f} MB more, "
        f"{100 * cpu:.0f}% of a core; {p50:.0f} ms (p99 {p99:.0f} ms) after the event"
    )
    return found, [
        Target("stream readers held", count, held, at_least=True),
        Target(f"memory of {count} stream readers", 300.0, more, " MB"),
    ]


def _start(bench: Bench) -> tuple[dict[str, Any], Target]:
    """How fast the service reads its topics at its start, beside a bare drain of the same topic."""
    settings = bench.kafka.client(group_id="bench", isolation_level="read_committed", enable_partition_eof=True)
    began, records = time.monotonic(), 0
    with Drain(settings, "crowd.updates", 0, 0) as drain:
        while not drain.at_end:
            records += len(drain.poll(1.0))
    bare = records / (time.monotonic() - began)
    process, _, seconds = bench.query()
    process.terminate()
    process.wait(60)
    lines = (bench.home / "query.log").read_text().splitlines()
    line = next(line for line in reversed(lines) if "crowd.updates: caught up" in line)
    rate = records / float(line.rsplit("after ", 1)[1].split()[0])
    print(f"start: {records:,d} updates, ready after {seconds:.1f} s; {rate:,.0f}/s read, applied and indexed")
    print(f"       {bare:,.0f}/s by a bare drain, nothing decoded")
    found = {"records": records, "seconds": seconds, "rate": rate, "bare drain": bare}
    # the design's own measure of a drain that is decoded and applied, in Python on this kind of machine
    return found, Target("updates per second at the start", 139_000, rate, at_least=True)


@contextmanager
def _updates(bench: Bench, topic: str, rate: int, *, improving: bool = False) -> Iterator[Steady]:
    steady = Steady(bench.kafka, topic, bench.objects, rate, improving=improving)
    _wait(lambda: steady.sent > rate)
    try:
        yield steady
    finally:
        steady.stop()


def _ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def _get(port: int, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as response:
        return orjson.loads(response.read())


def _wait(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
