"""An index that follows a stream of updates while it answers, as in the query service: one process, three threads."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from time import perf_counter
from typing import Final

import numpy as np

from benchmarks.datasets import independent
from skyline.search import SkylineIndex
from skyline.view import Floats

RATE: Final = 20_500
"""Updates per second offered: a little more than the 20,000 that are wanted, so that a pause is made up for."""

BATCH: Final = 500
SEARCHES: Final = {
    "skyline": {},
    "constrained": {"low": [0.3] * 3, "high": [0.7] * 3},
    "subspace": {"dims": [0, 2]},
    "ranked": {"weights": [1.0, 2.0, 3.0], "limit": 10},
    "skyband": {"k": 10},
    "of one group": {"label": 7},
    "all at once": {"low": [0.3] * 3, "dims": [0, 2], "weights": [1.0, 2.0, 3.0], "k": 3, "label": 7, "limit": 10},
}
GROUPS: Final = 20


@dataclass(frozen=True)
class Following:
    """Updates per second that got in, and median, 99th percentile and greatest latency of each search, in ms."""

    objects: int
    seconds: float
    updates_per_second: float
    latency: dict[str, tuple[float, float, float]]


class _Writer:
    """Moves objects about, RATE times a second, a batch at a time."""

    def __init__(self, index: SkylineIndex, objects: int, stop: threading.Event) -> None:
        self._index, self._objects, self._stop = index, objects, stop
        self._rng = np.random.default_rng(7)
        self.updates = 0

    def run(self) -> None:
        start = perf_counter()
        while not self._stop.is_set():
            ids = self._rng.integers(0, self._objects, BATCH)
            self._index.insert(ids, self._points(), ids % GROUPS)
            self.updates += BATCH
            ahead = self.updates / RATE - (perf_counter() - start)
            if ahead > 0:
                self._stop.wait(ahead)

    def _points(self) -> Floats:
        return self._rng.random((BATCH, 3))


def follow(objects: int, seconds: float) -> Following:
    """Asks one question after another for so long, while a thread updates and another merges trees."""
    index = SkylineIndex(independent(objects, 3), labels=np.arange(objects) % GROUPS, background=True)
    stop = threading.Event()
    writer = _Writer(index, objects, stop)

    def maintain() -> None:
        while not stop.is_set():
            if not index.maintain():
                stop.wait(0.01)

    threads = [threading.Thread(target=target) for target in (writer.run, maintain)]
    start = perf_counter()
    for thread in threads:
        thread.start()
    measured: dict[str, list[float]] = {name: [] for name in SEARCHES}
    while perf_counter() - start < seconds:
        for name, options in SEARCHES.items():
            begin = perf_counter()
            index.search(**options).rest()  # type: ignore[arg-type]
            measured[name].append(perf_counter() - begin)
            stop.wait(0.002)  # a reader that never rests would measure how threads take turns, not the index
    elapsed = perf_counter() - start
    stop.set()
    for thread in threads:
        thread.join()
    latency = {name: _summary(times) for name, times in measured.items()}
    return Following(objects, elapsed, writer.updates / elapsed, latency)


def _summary(seconds: list[float]) -> tuple[float, float, float]:
    median, p99, slowest = np.percentile(np.array(seconds) * 1e3, [50, 99, 100])
    return float(median), float(p99), float(slowest)
