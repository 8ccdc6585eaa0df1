"""What the query service's tests share: the processes, updates to feed them, and requests."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
import orjson
from confluent_kafka import Producer

from deploy.local.broker import die_with_parent
from skyline.runtime.config import KafkaSettings, load_views
from skyline.view import View

START = 1_700_000_000_000
Row = tuple[bytes | None, bytes | None, int]

_DIMENSIONS = '{ price = "min", distance = "min", rating = "max" }'
_VIEWS = {
    **{f"plain{i}": f"dimensions = {_DIMENSIONS}" for i in range(4)},
    **{f"grouped{i}": f'dimensions = {_DIMENSIONS}\ngroup_by = ["city", "stars"]\ncarry = ["name"]' for i in range(3)},
    "limited": f"dimensions = {_DIMENSIONS}",
    "fuzzed": f"dimensions = {_DIMENSIONS}",
    "slow": f"dimensions = {_DIMENSIONS}",
    "keys": f"dimensions = {_DIMENSIONS}",
    "streamed": f"dimensions = {_DIMENSIONS}",
    "coalesced": f"dimensions = {_DIMENSIONS}\ncoalesce = true",
    "newest": f'dimensions = {_DIMENSIONS}\ncarry = ["name"]\nwindow = {{ size = 100 }}',
    "recent": f'dimensions = {_DIMENSIONS}\nwindow = {{ span = "1s" }}',
}
"""Views by what they are for; every test that writes has one of its own."""


def views_file(home: Path, prefix: str) -> Path:
    path = home / "views.toml"
    path.write_text("\n".join(f"[{prefix}{name}]\n{table}\n" for name, table in _VIEWS.items()))
    return path


class Process:
    """A service in a process of its own; its log is in `log`."""

    def __init__(self, home: Path, module: str, *arguments: str) -> None:
        self.log = home / f"{module}-{time.monotonic_ns()}.log"
        with self.log.open("wb") as log:
            command = [sys.executable, "-m", module, *arguments]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=die_with_parent)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(30)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)

    def text(self) -> str:
        return self.log.read_text(errors="replace")


class Query(Process):
    """A query service on a free port."""

    def __init__(self, kafka: KafkaSettings, views: Path, home: Path, *more: str) -> None:
        port = _free_port()
        self.address = f"http://127.0.0.1:{port}"
        super().__init__(
            home, "query", "--bootstrap", kafka.bootstrap, "--views", str(views), "--port", str(port), *more
        )

    def wait_ready(self, seconds: float = 300.0) -> None:
        deadline = time.monotonic() + seconds
        while True:
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.text()[-3000:]}"
            assert time.monotonic() < deadline, f"not ready within {seconds} s: {self.text()[-3000:]}"
            try:
                if httpx.get(self.address + "/readyz", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)


class Stack:
    """A maintainer and a query service over the same views."""

    def __init__(self, kafka: KafkaSettings, views: Path, home: Path) -> None:
        self.kafka, self.home, self.path = kafka, home, views
        self.views = load_views(views)
        self.publish = Publisher(kafka).publish
        self.maintainer = Process(
            home, "maintainer", "--bootstrap", kafka.bootstrap, "--views", str(views), "--state", str(home / "state"),
            "--metrics-port", "0",
        )  # fmt: skip
        self.query = Query(kafka, views, home, "--wait-seconds", "3")
        self.query.wait_ready()

    def view(self, name: str) -> View:
        return next(view for view in self.views.values() if view.name.endswith(f"-{name}"))

    def stop(self) -> None:
        assert self.query.stop() == 0, self.query.text()[-3000:]
        assert self.maintainer.stop() == 0, self.maintainer.text()[-3000:]


class Publisher:
    """Sends updates in order."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self._producer = Producer(kafka.client(linger_ms=1, enable_idempotence=True))

    def publish(self, view: View, rows: Iterable[Row]) -> int:
        """Sends updates; gives the offset of the last one."""
        offsets: list[int] = []

        def delivered(error: Any, sent: Any) -> None:
            assert error is None
            offsets.append(sent.offset())

        for key, value, at in rows:
            self._producer.produce(view.topic("updates"), value, key, timestamp=at, on_delivery=delivered)
            self._producer.poll(0)
        assert self._producer.flush(60) == 0
        return max(offsets)


class Client(httpx.Client):
    """Asks, and insists on an answer."""

    def __init__(self, address: str) -> None:
        super().__init__(base_url=address, timeout=60)

    def ask(self, path: str, status: int = 200, **parameters: Any) -> Any:
        response = self.get(path, params={name: value for name, value in parameters.items() if value is not None})
        assert response.status_code == status, response.text
        return response.json()

    def until_published(self, view: View, seq: int) -> None:
        """Waits until the maintainer has published change `seq` and the service has read it."""
        deadline = time.monotonic() + 60
        while self.ask(f"/views/{view.name}")["history"]["last"] < seq:
            assert time.monotonic() < deadline, f"change {seq} was not published"
            time.sleep(0.02)

    def until_settled(self, view: View) -> None:
        """Waits until the changes lead to the members: for views whose numbers only the maintainer knows."""
        deadline = time.monotonic() + 60
        path = f"/views/{view.name}/skyline"
        while (now := self.ask(path))["members"] != self.ask(path, as_of=now["clock"])["members"]:
            assert time.monotonic() < deadline, "the changes never led to the members"
            time.sleep(0.02)


def updates(seed: int, count: int, objects: int = 60, start: int = START) -> list[Row]:
    """Upserts, moves between groups, deletes, expiries, scheduled objects, modifications, ticks and rejects."""
    rng = random.Random(seed)
    rows: list[Row] = []
    now = start
    for _ in range(count):
        now += rng.choice([0, 1, 1, 5])
        rows.append((*_update(rng, now, objects), now))
    return rows


def _update(rng: random.Random, now: int, objects: int) -> tuple[bytes, bytes | None]:
    key = f"o{rng.randrange(objects)}".encode()
    fields: dict[str, Any] = {
        "price": rng.randrange(40), "distance": rng.choice([rng.randrange(9), rng.random()]),
        "rating": rng.choice([rng.randrange(9), rng.random(), "Infinity"]), "city": rng.choice(["Paris", "Rome"]),
        "stars": rng.choice([3, 4]), "name": rng.choice(["x", "y", None]),
    }  # fmt: skip
    kind = rng.random()
    if kind < 0.2:
        fields["valid_until"] = now + rng.randrange(1, 200)
    elif kind < 0.25:
        fields["valid_from"] = now + rng.randrange(1, 50)
    elif kind < 0.32:
        return key, None
    elif kind < 0.36:
        return key, orjson.dumps({"$op": rng.choice(["add", "average", "patch"]), "price": rng.randrange(1, 20)})
    elif kind < 0.38:
        return key, b"{nonsense"
    elif kind < 0.40:
        return b"$tick", None
    return key, orjson.dumps(fields)


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
