"""The papers' engines on their own workloads, each beside the dominance forest, in one run.

walk: ESC's. Objects normal in [0, 1000]^d, each update moves one of them a little. All engines start from the same
state and apply the same updates; the slow ones take the first part of them, and must give the same changes.
intervals: LookOut's. Arrival uniform in [0, 100K], expiry uniform in what is left; measured from half-time on, when
most objects are valid.

Response is the time until an update's changes are known, overall the time until the engine is ready for the next one:
they differ in ESC only. Both are microseconds per event, as is `moved`: what libspatialindex alone takes to move an
object. The forest handles a batch at a time, so its events have no times of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table
from rtree import index as rtree_index

from benchmarks.datasets import anticorrelated, independent
from benchmarks.harness import parse_arguments, write_json
from skyline.live import Changes, Skyline
from skyline.live.engine import State
from skyline.live.esc import Esc
from skyline.live.events import EventEngine
from skyline.view import Floats, Ints

OBJECTS: Final = 100_000
SPAN: Final = 100_000
BATCH: Final = 100


@dataclass(frozen=True)
class Events:
    """A state, and rows that come after it."""

    name: str
    state: State
    keys: Ints
    points: Floats
    valid_until: Ints | None = None
    at: Ints | None = None

    def apply(self, live: Skyline, first: int, last: int) -> Changes:
        rows = slice(first, last)
        until = None if self.valid_until is None else self.valid_until[rows]
        at = None if self.at is None else self.at[rows]
        return live.apply(self.keys[rows], self.points[rows], valid_until=until, at=at)


def rivals(dimensions: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, engine and options. A page of 4 KB holds so many points; 0.7 is libspatialindex's own least fill."""
    pages = {"capacity": 4096 // (8 * dimensions + 4), "fill": 0.7}
    return [
        ("esc", "esc", {}),
        ("esc, 4 KB pages", "esc", pages),
        ("lookout, quadtree", "lookout", {"index": "quadtree"}),
        ("lookout, R*-tree", "lookout", {"index": "rtree"}),
        ("lookout, R*-tree, 4 KB pages", "lookout", {"index": "rtree", **pages}),
    ]


def walk(dimensions: int, updates: int) -> Events:
    rng = np.random.default_rng(dimensions)
    points = rng.normal(500, 150, (OBJECTS, dimensions)).clip(0, 1000)
    live = _forest(dimensions)
    live.apply(np.arange(OBJECTS), points)
    keys = rng.integers(0, OBJECTS, updates)
    moved = np.empty((updates, dimensions))
    for row, key in enumerate(keys.tolist()):
        points[key] = moved[row] = (points[key] + rng.normal(0, 5, dimensions)).clip(0, 1000)
    return Events(f"walk, {dimensions}-D normal", live.dump(), keys, moved)


def intervals(name: str, draw: Callable[[int, int], Floats], dimensions: int) -> Events:
    rng = np.random.default_rng(dimensions)
    points = draw(OBJECTS, dimensions)
    at = np.sort(rng.integers(0, SPAN, OBJECTS))
    until = rng.integers(at, SPAN)
    whole = Events("", {}, np.arange(OBJECTS), points, until, at)
    live = _forest(dimensions)
    half = OBJECTS // 2
    whole.apply(live, 0, half)
    return Events(
        f"intervals, {dimensions}-D {name}", live.dump(), whole.keys[half:], points[half:], until[half:], at[half:]
    )


def run_forest(events: Events) -> tuple[dict[str, Any], list[Any]]:
    """The forest takes all rows, in one batch; three times over, of which the fastest counts."""
    seconds = []
    for _ in range(3):
        live = Skyline.load(events.state)
        start = perf_counter()
        changes = events.apply(live, 0, len(events.keys))
        seconds.append(perf_counter() - start)
    rows = len(events.keys)
    return {"engine": "forest", "rows": rows, "updates_per_second": rows / min(seconds), "members": len(live)}, list(
        changes
    )


def run(
    events: Events, rows: int, name: str, engine: str, options: dict[str, Any], expected: list[Any]
) -> dict[str, Any]:
    live = Skyline.load(events.state, engine=engine, **options)
    timed = live._engine
    assert isinstance(timed, EventEngine)
    events.apply(live, 0, BATCH)  # compiles
    answered, finished = _stamps(timed)
    changes: list[Any] = []
    seconds = 0.0
    for first in range(BATCH, rows, BATCH):
        last = len(finished)
        start = perf_counter()
        found = events.apply(live, first, first + BATCH)
        seconds += perf_counter() - start
        finished[last:last] = [start]
        answered[last:last] = [start]
        changes += [change._replace(row=change.row + first) for change in found]
    before = [c for c in expected if BATCH <= c.row < rows]
    assert changes == before, f"{name} and forest disagree"
    ends, answers = np.array(finished), np.array(answered)
    # a stamp of a batch's start has no event of its own
    event = np.ones(len(ends), bool)
    event[np.flatnonzero(answers == ends)] = False
    previous = np.concatenate([ends[:1], ends[:-1]])
    response, overall = ((stamps - previous)[event] * 1e6 for stamps in (answers, ends))
    return {
        "engine": name,
        "rows": rows - BATCH,
        "events": int(event.sum()),
        "updates_per_second": (rows - BATCH) / seconds,
        "response_us": _quantiles(response),
        "overall_us": _quantiles(overall),
        "members": len(live),
    }


def _stamps(engine: EventEngine) -> tuple[list[float], list[float]]:
    """Lists that grow with every event: when its changes were known, and when the engine was ready for the next."""
    answered: list[float] = []
    finished: list[float] = []
    settle = engine.settle

    def timed_settle() -> None:
        if not isinstance(engine, Esc):
            answered.append(perf_counter())
        settle()
        finished.append(perf_counter())

    if isinstance(engine, Esc):
        engine.answered = lambda: answered.append(perf_counter())
    engine.settle = timed_settle  # type: ignore[method-assign]
    return answered, finished


def move_alone(dimensions: int, capacity: int, fill: float, moves: int) -> float:
    """Microseconds that libspatialindex takes to move one of the objects, without any engine or page reading."""
    rng = np.random.default_rng(1)
    points = rng.normal(500, 150, (OBJECTS, dimensions)).clip(0, 1000)
    settings = rtree_index.Property(
        dimension=dimensions,
        variant=rtree_index.RT_Star,
        leaf_capacity=capacity,
        index_capacity=capacity,
        near_minimum_overlap_factor=min(32, capacity - 1),
        fill_factor=fill,
    )
    boxes = ((slot, point * 2, None) for slot, point in enumerate(points.tolist()))
    tree = rtree_index.Index(boxes, properties=settings)
    rows = rng.integers(0, OBJECTS, moves)
    steps = rng.normal(0, 5, (moves, dimensions))
    start = perf_counter()
    for row, step in zip(rows.tolist(), steps, strict=True):
        tree.delete(row, points[row].tolist() * 2)
        points[row] += step
        tree.insert(row, points[row].tolist() * 2)
    return (perf_counter() - start) / moves * 1e6


def _forest(dimensions: int) -> Skyline:
    return Skyline({f"d{i}": "min" for i in range(dimensions)}, engine="forest")


def _quantiles(times: Floats) -> dict[str, float]:
    return dict(zip(("p50", "p99", "max"), np.quantile(times, [0.5, 0.99, 1.0]).tolist(), strict=True))


def _show(console: Console, title: str, results: Sequence[dict[str, Any]]) -> None:
    table = Table(title=title)
    columns = ("rows", "updates/s", "forest is", "response p50", "p99", "max", "overall p50", "p99", "max", "members")
    for column in ("engine", *columns):
        table.add_column(column, justify="left" if column == "engine" else "right")
    best = results[0]["updates_per_second"]
    for result in results:
        times = [f"{t:,.0f}" for kind in ("response_us", "overall_us") for t in result.get(kind, {}).values()]
        speed = result["updates_per_second"]
        cells = (f"{result['rows']:,}", f"{speed:,.0f}", f"{best / speed:,.0f}x", *(times or [""] * 6))
        table.add_row(result["engine"], *cells, f"{result['members']:,}")
    console.print(table)


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(__doc__.splitlines()[0], argv)
    rows = 1_000 if arguments.quick else 5_000
    console = Console(width=150)
    workloads: list[tuple[int, Callable[[], Events]]] = [
        (5, lambda: walk(5, 100_000)),
        (2, lambda: walk(2, 100_000)),
        (2, lambda: intervals("independent", independent, 2)),
        (2, lambda: intervals("anti-correlated", anticorrelated, 2)),
        (5, lambda: intervals("anti-correlated", anticorrelated, 5)),
    ]
    document: dict[str, Any] = {"moved_us": [], "workloads": {}}
    for dimensions in (5, 2):
        for capacity, fill in ((20, 0.4), (4096 // (8 * dimensions + 4), 0.7)):
            alone = move_alone(dimensions, capacity, fill, rows // 5)
            document["moved_us"].append({"d": dimensions, "capacity": capacity, "fill": fill, "us": alone})
            console.print(
                f"libspatialindex alone, {dimensions}-D, {capacity} entries, fill {fill}: {alone:,.0f} us per move"
            )
    for dimensions, make in workloads[: 3 if arguments.quick else None]:
        events = make()
        forest, changes = run_forest(events)
        results = [forest, *(run(events, rows, *rival, changes) for rival in rivals(dimensions))]
        document["workloads"][events.name] = results
        _show(console, f"{events.name}, {OBJECTS:,} objects; times in microseconds per event", results)
    if arguments.json:
        write_json(arguments.json, "paper_engines", document)


if __name__ == "__main__":
    main()
