"""The live engines side by side on the workloads of ESC and LookOut, and the numbers that the forest has to reach.

Updates per second: the forest takes all rows in one `apply`; the papers' engines take the first ones, row by row, and
must give the same changes. Response is the time from an `apply` of one row until its changes are known, overall the
time until it returns: they differ in ESC only, whose second skyline no answer waits for. All times are processor time
of the one thread that works, the least of several runs: what a row costs, and not what else the machine did. Memory
is the growth of a fresh process, per object, beyond the keys and points themselves.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from time import thread_time
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.harness import parse_arguments, write_json
from benchmarks.live_workloads import SPAN, Log, hard_walk, intervals, skyline, ties, walk
from skyline.live import Change, Skyline
from skyline.live.engine import State
from skyline.live.esc import Esc
from skyline.view import Floats

ENGINES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "forest": ("forest", {}),
    "esc": ("esc", {}),
    "lookout, quadtree": ("lookout", {"index": "quadtree"}),
    "lookout, R*-tree": ("lookout", {"index": "rtree"}),
    "recompute": ("recompute", {}),
}
FULLEST: Final = 315_000
"""Row of LookOut's workload of 500,000 objects at which the most of them, 184,000, are alive: 1 - 1/e of the way."""


@dataclass(frozen=True)
class Goal:
    """A number to reach."""

    what: str
    value: float
    target: float
    unit: str
    at_least: bool = False

    @property
    def reached(self) -> bool:
        return self.value >= self.target if self.at_least else self.value <= self.target


def sorting() -> float:
    """T: seconds that np.sort takes for a million random numbers."""
    numbers = np.random.default_rng(0).random(1_000_000)
    return min(_seconds(lambda: np.sort(numbers)) for _ in range(5))


def _seconds(run: Callable[[], object]) -> float:
    begin = thread_time()
    run()
    return thread_time() - begin


def batch_seconds(log: Log, state: State, times: int) -> tuple[float, list[Change], int]:
    """Least time in which the forest applies the whole log at once; its changes, and members at the end of the rows."""
    best = np.inf
    for _ in range(times):
        live = Skyline.load(state)
        begin = thread_time()
        changes = log.apply(live)
        members = len(live)
        if log.at is not None:
            live.advance(SPAN + 1)
        best = min(best, thread_time() - begin)
    return best, list(changes), members


def row_times(
    log: Log, state: State, engine: str, first: int, last: int, runs: int, expected: list[Change]
) -> tuple[Floats, Floats]:
    """Least response and overall time, in seconds, of each of these rows; asserts that the changes are as expected."""
    name, options = ENGINES[engine]
    warm_up(engine, log.dimensions)
    response, overall = np.full((2, last - first), np.inf)
    for _ in range(runs):
        live = Skyline.load(state)
        log.apply(live, 0, first)
        live = Skyline.load(live.dump(), engine=name, **options)
        answered: list[float] = []
        if isinstance(live._engine, Esc):
            live._engine.answered = lambda stamps=answered: stamps.append(thread_time())  # type: ignore[misc]
        found: list[Change] = []
        for i, row in enumerate(range(first, last)):
            begin = thread_time()
            changes = log.apply(live, row, row + 1)
            end = thread_time()
            overall[i] = min(overall[i], end - begin)
            response[i] = min(response[i], (answered[-1] if answered else end) - begin)
            found += [change._replace(row=row) for change in changes]
        assert found == [c for c in expected if first <= c.row < last], f"{engine} and forest disagree on {log.name}"
    return response, overall


def warm_up(engine: str, dimensions: int) -> None:
    """Lets the engine load all its kernels: objects come, move, and go."""
    name, options = ENGINES[engine]
    live = skyline(dimensions, name, **options)
    points = np.random.default_rng(0).random((120, dimensions))
    live.apply(np.arange(60), points[:60])
    live = Skyline.load(live.dump())
    live.apply(np.arange(60), points[60:])
    live.apply(np.arange(60), points[:60], deleted=np.ones(60, np.bool_))


def compare(log: Log, rivals: dict[str, int], first: int, times: int, memory: bool) -> list[dict[str, Any]]:
    """The forest on the whole log, and rivals on so many rows each."""
    state = log.state()
    seconds, changes, members = batch_seconds(log, state, times)
    events = len(log.keys) * (1 if log.at is None else 2)
    results = []
    for engine, rows in {"forest": 5_000, **rivals}.items():
        last = min(first + rows, len(log.keys))
        response, overall = row_times(log, state, engine, first, last, 2 if engine == "forest" else 1, changes)
        speed = events / seconds if engine == "forest" else (last - first) / float(overall.sum())
        results.append(
            {
                "engine": engine,
                "rows": len(log.keys) if engine == "forest" else last - first,
                "updates_per_second": speed,
                "response_us": _quantiles(response),
                "overall_us": _quantiles(overall),
                "members": members,
                "bytes_per_object": bytes_per_object(engine, 20_000, log.dimensions) if memory else None,
            }
        )
    return results


def _quantiles(times: Floats) -> dict[str, float]:
    values = np.quantile(times * 1e6, [0.5, 0.99, 1.0]).tolist()
    return dict(zip(("p50", "p99", "max"), values, strict=True))


def bytes_per_object(engine: str, objects: int, dimensions: int) -> float:
    """Growth of a fresh process by so many objects, beyond their keys and points."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_growth, engine, objects, dimensions).result()


def _growth(engine: str, objects: int, dimensions: int) -> float:
    name, options = ENGINES[engine]
    points = np.random.default_rng(1).normal(500, 150, (objects, dimensions))
    warm_up("forest", dimensions)
    warm_up(engine, dimensions)
    before = _resident()
    live = skyline(dimensions, name, **options)
    if name == "forest":
        for first in range(0, objects, 10_000):
            live.apply(np.arange(first, first + 10_000), points[first : first + 10_000])
    else:
        seed = skyline(dimensions)
        seed.apply(np.arange(objects), points)
        state = seed.dump()
        del seed
        before = _resident()
        live = Skyline.load(state, engine=name, **options)
    return (_resident() - before) / objects - 8 * (1 + live.dimensions.signs.size)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def worst_event(log: Log, first: int, last: int, runs: int) -> float:
    """Milliseconds of the slowest of these single rows, with what expires before it.

    From the first row of the log on, the tables grow on the way, as they do in life; from a later one they have room.
    """
    state = log.state()
    live = Skyline.load(state)
    changes = list(log.apply(live))
    return float(row_times(log, state, "forest", first, last, runs, changes)[1].max() * 1e3)


def goals(quick: bool) -> list[Goal]:
    """The numbers to reach, each in times T, measured just before."""
    times = 3 if quick else 7
    normal, hard = walk(100_000, 5, 10, 100_000), hard_walk(100_000, 5, 100_000)
    cases = [
        (normal, "100K updates, 100K objects, 5-D normal", 1.5),
        (normal.with_text_keys(), "the same with text keys", 6.0),
        (hard, "the same, 5-D anti-correlated", 5.0),
        (intervals("independent", 100_000, 2), "LookOut, 100K objects, 2-D, 200K events", 4.0),
    ]
    found = []
    for log, what, target in cases:
        state = log.state()
        t = sorting()
        seconds, _, members = batch_seconds(log, state, times)
        found.append(Goal(f"{what} ({members:,} members)", seconds / min(t, sorting()), target, "T"))
    log = intervals("independent", 500_000, 2)
    first, last = (FULLEST, FULLEST + 3_000) if quick else (0, len(log.keys))
    what = f"worst of {last - first:,} single rows, LookOut, 500K objects, 2-D"
    found.append(Goal(what, worst_event(log, first, last, 2), 5.0, "ms"))
    found.append(Goal("memory at 1M objects, 5-D", bytes_per_object("forest", 1_000_000, 5), 250.0, "bytes/object"))
    return found


def workloads(quick: bool) -> list[tuple[Log, dict[str, int]]]:
    """Logs and, by rival, how many of their rows it takes."""
    part = 300 if quick else 1_000
    esc, quad, star, baseline = {"esc": part}, {"lookout, quadtree": part}, {"lookout, R*-tree": part}, {"recompute": 2}
    logs: list[tuple[Log, dict[str, int]]] = [
        (walk(100_000, 5, 10, 100_000), {**esc, **quad, **star, **baseline}),
        (intervals("independent", 100_000, 2), {**quad, **star, **esc, **baseline}),
        (hard_walk(100_000, 5, 100_000), {} if quick else {**esc, **quad}),
    ]
    if quick:
        return logs
    logs.append((ties(20_000, 20_000), {}))
    logs += [(walk(100_000, d, 10, 100_000), {**esc, **quad}) for d in (2, 3, 4)]
    logs += [(walk(100_000, 5, percent, 100_000), {}) for percent in (1, 5)]
    logs += [(walk(objects, 5, 10, 100_000), {}) for objects in (500_000, 1_000_000)]
    logs += [(intervals("anti-correlated", 100_000, d), {**quad, **star}) for d in (2, 5)]
    logs += [(intervals("independent", 100_000, d), {}) for d in (3, 4, 5)]
    logs += [(intervals(kind, n, 2), {}) for kind in ("independent", "anti-correlated") for n in (200_000, 500_000)]
    return logs


def show(console: Console, title: str, results: Sequence[dict[str, Any]]) -> None:
    table = Table(title=f"{title}; times in microseconds")
    columns = (
        "rows",
        "updates/s",
        "forest is",
        "response p50",
        "p99",
        "max",
        "overall p50",
        "p99",
        "max",
        "members",
        "B/object",
    )
    for column in ("engine", *columns):
        table.add_column(column, justify="left" if column == "engine" else "right")
    best = results[0]["updates_per_second"]
    for result in results:
        stamps = [f"{t:,.0f}" for kind in ("response_us", "overall_us") for t in result[kind].values()]
        speed, size = result["updates_per_second"], result["bytes_per_object"]
        cells = (f"{result['rows']:,}", f"{speed:,.0f}", f"{best / speed:,.0f}x", *stamps, f"{result['members']:,}")
        table.add_row(result["engine"], *cells, "" if size is None else f"{size:,.0f}")
    console.print(table)


def show_goals(console: Console, found: Sequence[Goal]) -> None:
    table = Table(title="numbers to reach; T is np.sort of a million float64 in this process")
    for column in ("what", "measured", "target", "verdict"):
        table.add_column(column, justify="left" if column in ("what", "verdict") else "right")
    for goal in found:
        sign = ">=" if goal.at_least else "<="
        verdict = "reached" if goal.reached else "MISSED"
        table.add_row(goal.what, f"{goal.value:,.2f} {goal.unit}", f"{sign} {goal.target:,g} {goal.unit}", verdict)
    console.print(table)


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(__doc__.splitlines()[0], argv)
    gc.disable()  # going through the changes that are kept for comparison would be counted as the time of some row
    console = Console(width=170)
    console.print(f"T = {sorting() * 1e3:.1f} ms")
    found = goals(arguments.quick)
    document: dict[str, Any] = {"sort_seconds": sorting(), "workloads": {}}
    for number, (log, rivals) in enumerate(workloads(arguments.quick)):
        results = compare(log, rivals, len(log.keys) // 2, 2 if arguments.quick else 4, memory=number == 0)
        document["workloads"][log.name] = results
        show(console, log.name, results)
        if number == 0:
            speeds = {result["engine"]: result["updates_per_second"] for result in results}
            found.append(Goal("forest over esc on rtree, 5-D 100K", speeds["forest"] / speeds["esc"], 1000, "x", True))
    show_goals(console, found)
    document["goals"] = [{**asdict(goal), "reached": goal.reached} for goal in found]
    if arguments.json:
        write_json(arguments.json, "live", document)


if __name__ == "__main__":
    main()
