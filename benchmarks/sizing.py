"""How large a machine must be: memory per million objects and cores per 100,000 updates/s, of maintainer and query.

A real broker, the services as processes of their own, and their own metrics: what an operator would see. First as many
new objects as the view shall hold, then as many moves of them, both as fast as the services take them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import numpy as np
from confluent_kafka import Producer
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.datasets import independent
from benchmarks.harness import parse_arguments, write_json
from deploy.local.broker import Broker
from deploy.local.place import local_place
from deploy.local.running import refuse_ended, start_all
from deploy.local.services import Place, Service, services
from deploy.local.stack import Stack

_OBJECTS: Final = 1_000_000
_QUICK: Final = 100_000
_DIMENSIONS: Final = 3
_SECONDS: Final = 600.0
_MB: Final = 2**20


@dataclass(frozen=True)
class Sight:
    """A process as its metrics show it."""

    memory: float
    cpu: float
    position: float
    """Updates that it has committed (maintainer), or that its answers show (query)."""


@dataclass(frozen=True)
class Process:
    """A service that is measured, and the metric that says how far it is."""

    service: Service
    place: Place
    progress: str
    ahead: int
    """What is to be added: an offset is one less than the number of updates up to it."""

    def look(self) -> Sight:
        with urlopen(f"http://127.0.0.1:{self.service.port_at(self.place)}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        values = {
            sample.name: sample.value for family in text_string_to_metric_families(text) for sample in family.samples
        }
        memory, cpu = values["process_resident_memory_bytes"], values["process_cpu_seconds_total"]
        return Sight(memory, cpu, values.get(self.progress, -self.ahead) + self.ahead)


def fill(bootstrap: str, topic: str, n: int, seed: int) -> int:
    """Publishes one record for each of n keys; gives the bytes of keys and values."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "queue.buffering.max.messages": 2_000_000})
    size = 0
    for row, (a, b, c) in enumerate(np.round(independent(n, _DIMENSIONS, seed), 6).tolist()):
        key, value = f"object-{row}", f'{{"a":{a},"b":{b},"c":{c}}}'
        size += len(key) + len(value)
        producer.produce(topic, value, key)
        if row % 10_000 == 0:
            producer.poll(0)
    producer.flush(_SECONDS)
    return size


def wait_for(stack: Stack, process: Process, updates: int) -> Sight:
    """The process once it has taken that many updates."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        refuse_ended(stack)
        seen = process.look()
        if seen.position >= updates:
            return seen
        time.sleep(0.2)
    raise TimeoutError(f"{process.service.name} did not take {updates} updates within {_SECONDS:.0f} s")


def measure(n: int, home: Path, broker: Broker) -> dict[str, Any]:
    """Memory and cores of each service with n objects of three dimensions."""
    views = home / "views.toml"
    views.write_text('[sizing]\ndimensions = { a = "min", b = "min", c = "min" }\n')
    chosen = [service for service in services("core") if service.name in ("maintainer", "query")]
    place = local_place(broker.address, views, home, chosen, any_port=True)
    progress = {"maintainer": ("skyline_updates_total", 0), "query": ("skyline_query_offset", 1)}
    processes = [Process(service, place, *progress[service.name]) for service in chosen]
    stack = Stack(lambda _name, _line: None)
    try:
        start_all(stack, place, chosen)
        empty = [process.look() for process in processes]
        size = fill(broker.address, "sizing.updates", n, seed=1)
        full = [wait_for(stack, process, n) for process in processes]
        fill(broker.address, "sizing.updates", n, seed=2)
        moved = [wait_for(stack, process, 2 * n) for process in processes]
    finally:
        stack.stop_all()
    checkpoint = max(path.stat().st_size for path in (home / "checkpoints").rglob("*.checkpoint"))
    found: dict[str, Any] = {"objects": n, "bytes_per_update": size / n, "checkpoint_mb": checkpoint / _MB}
    for process, before, loaded, after in zip(processes, empty, full, moved, strict=True):
        found[process.service.name] = {
            "memory_mb_empty": before.memory / _MB,
            "memory_mb": max(loaded.memory, after.memory) / _MB,
            "core_seconds_per_100k_inserts": (loaded.cpu - before.cpu) / n * 1e5,
            "core_seconds_per_100k_moves": (after.cpu - loaded.cpu) / n * 1e5,
        }
    return found


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(__doc__.splitlines()[0] if __doc__ else "", argv)
    n = _QUICK if arguments.quick else _OBJECTS
    with tempfile.TemporaryDirectory(prefix="skyline-sizing-") as scratch:
        broker = Broker(Path(scratch) / "kafka", dies_with_parent=True)
        try:
            found = measure(n, Path(scratch), broker.start())
        finally:
            broker.kill()
    print(f"{n:,} objects of {_DIMENSIONS} dimensions, {found['bytes_per_update']:.0f} bytes an update")
    print(f"checkpoint {found['checkpoint_mb']:.0f} MB")
    for name in ("maintainer", "query"):
        one = found[name]
        print(
            f"{name:11} {one['memory_mb']:6.0f} MB ({one['memory_mb_empty']:.0f} empty), cores at 100K updates/s: "
            f"{one['core_seconds_per_100k_inserts']:.2f} for new objects, "
            f"{one['core_seconds_per_100k_moves']:.2f} for moves"
        )
    if arguments.json:
        write_json(arguments.json, "sizing", found)


if __name__ == "__main__":
    main()
