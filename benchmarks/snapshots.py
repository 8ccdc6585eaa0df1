"""Bulk snapshots: the 2014 paper's synthetic data over its ranges (Table 2), recomputation against SnapshotSkyline
and the live forest, in one run.

Objects walk: every value takes a normal step, with the given probability, from one snapshot to the next. Snapshots are
drawn a chunk at a time, and each rival replays the chunk; after each chunk all must have the same skyline. Times are
microseconds per snapshot, the mean over all snapshots; repeated with other seeds, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.harness import Spread, Target, parse_arguments, write_json
from benchmarks.kit.naive_kernels import block_nested_loop, sort_filter
from skyline.batch import skyline_of
from skyline.batch.snapshots import SnapshotSkyline
from skyline.live import Skyline
from skyline.view import Floats, Ints

CHUNK: Final = 100
Snapshot = tuple[Ints, Floats]


@dataclass(frozen=True)
class Case:
    """The paper's parameters N, m, T, p; its threshold; and how often the naive rivals are run and timed."""

    objects: int = 5000
    dimensions: int = 3
    snapshots: int = 10_000
    probability: float = 0.025
    cfp: int = 50
    naive_every: int = 10


DEFAULT: Final = Case()


def walk(case: Case, points: Floats, seed: int) -> Iterator[list[Snapshot]]:
    """Chunks of snapshots from points on: each value moves by N(0, 0.5) with the case's probability."""
    rng = np.random.default_rng(seed)
    current = points.copy()
    for _ in range(case.snapshots // CHUNK):
        chunk = []
        for _ in range(CHUNK):
            cells = rng.choice(current.size, rng.binomial(current.size, case.probability), replace=False)
            current.ravel()[cells] += rng.normal(0, 0.5, len(cells))
            rows = np.unique(cells // case.dimensions)
            chunk.append((rows, current[rows]))
        yield chunk


class Recompute:
    """The paper's naive method: all objects, from nothing."""

    def __init__(self, algorithm: Callable[[Floats], Ints], points: Floats, every: int) -> None:
        self._algorithm, self._points, self._every = algorithm, points.copy(), every
        self._seconds, self._runs, self._members = 0.0, 0, algorithm(points)

    def replay(self, chunk: Sequence[Snapshot]) -> Ints:
        for number, (rows, points) in enumerate(chunk, 1):
            start = perf_counter()
            self._points[rows] = points
            if number % self._every == 0:
                self._members = self._algorithm(self._points)
                self._seconds += perf_counter() - start
                self._runs += 1
        return self._members

    def microseconds(self) -> dict[str, float]:
        return {"total": self._seconds / self._runs * 1e6}


class Boxes:
    """SnapshotSkyline, phase by phase, with the sizes of SKM and of the skyline."""

    def __init__(self, points: Floats, cfp: int) -> None:
        self._view = SnapshotSkyline(points, cfp=cfp)
        self._seconds, self._sizes, self._snapshots = np.zeros(3), np.zeros(2), 0

    def replay(self, chunk: Sequence[Snapshot]) -> Ints:
        for rows, points in chunk:
            start = perf_counter()
            self._view.prepare(rows, points)
            prepared = perf_counter()
            members = self._view.evaluate()
            evaluated = perf_counter()
            candidates = len(self._view.candidates())
            finishing = perf_counter()
            self._view.finish()
            finished = perf_counter()
            self._seconds += prepared - start, evaluated - prepared, finished - finishing
            self._sizes += candidates, len(members)
        self._snapshots += len(chunk)
        return members

    def microseconds(self) -> dict[str, float]:
        pre, sky, post = self._seconds / self._snapshots * 1e6
        return {"PRE": pre, "SKY": sky, "POST": post, "total": pre + sky + post}

    def sizes(self) -> dict[str, float]:
        candidates, members = self._sizes / self._snapshots
        return {"SKM": candidates, "skyline": members}


class Forest:
    """The live engine, which also says for every single update what changed and why."""

    def __init__(self, points: Floats) -> None:
        self._live = Skyline({f"d{k}": "min" for k in range(points.shape[1])}, engine="forest")
        self._live.apply(np.arange(len(points)), points)
        self._seconds, self._snapshots = 0.0, 0

    def replay(self, chunk: Sequence[Snapshot]) -> Ints:
        for rows, points in chunk:
            start = perf_counter()
            self._live.apply(rows, points)
            self._seconds += perf_counter() - start
        self._snapshots += len(chunk)
        return np.array(list(self._live.members()), dtype=np.int64)

    def microseconds(self) -> dict[str, float]:
        return {"total": self._seconds / self._snapshots * 1e6}


def sorted_first(points: Floats) -> Ints:
    """Sort-filter: by ascending sum none of these finite, random points comes before one that dominates it."""
    return np.sort(sort_filter(points, np.argsort(points.sum(axis=1))))


def nested_loop(points: Floats) -> Ints:
    return np.sort(block_nested_loop(points))


def measure(case: Case, seed: int) -> dict[str, dict[str, float]]:
    """Microseconds per snapshot of every rival, and the sizes, for one seed."""
    points = np.random.default_rng(seed).uniform(0, 100, (case.objects, case.dimensions))
    boxes = Boxes(points, case.cfp)
    rivals: dict[str, Recompute | Boxes | Forest] = {
        "nested loop": Recompute(nested_loop, points, case.naive_every),
        "sort-filter": Recompute(sorted_first, points, case.naive_every),
        "skyline_of": Recompute(skyline_of, points, case.naive_every),
        "boxes": boxes,
        "forest": Forest(points),
    }
    for chunk in walk(case, points, seed + 1):
        answers = {name: rival.replay(chunk) for name, rival in rivals.items()}
        for name, answer in answers.items():
            if not np.array_equal(answer, answers["boxes"]):
                raise RuntimeError(f"{name} and boxes disagree about the skyline of {case}, seed {seed}")
    return {name: rival.microseconds() for name, rival in rivals.items()} | {"sizes": boxes.sizes()}


def repeated(case: Case, seeds: range) -> dict[str, Any]:
    """One result: the case, and the spread of every number over the seeds."""
    runs = [measure(case, seed) for seed in seeds]
    measured = {
        name: {part: Spread.of([run[name][part] for run in runs]) for part in parts} for name, parts in runs[0].items()
    }
    best = [min(run[name]["total"] for name in ("nested loop", "sort-filter")) / run["boxes"]["total"] for run in runs]
    speedups = {"best naive / boxes": Spread.of(best)} | {
        f"{name} / boxes": Spread.of([run[name]["total"] / run["boxes"]["total"] for run in runs])
        for name in ("nested loop", "sort-filter", "skyline_of", "forest")
    }
    return {"case": asdict(case), "seeds": list(seeds), "microseconds": measured, "speedup": speedups}


def sweeps(quick: bool) -> dict[str, list[Case]]:
    """The paper's default, its ranges and its Fig. 4; quick: the default and the ends of ranges, fewer snapshots."""
    if quick:
        short = replace(DEFAULT, snapshots=500, naive_every=20)
        ends = [replace(short, dimensions=2), replace(short, dimensions=8, snapshots=100, naive_every=50)]
        shares = [replace(short, probability=share) for share in (0.005, 0.2)]
        return {"default": [short], "m": ends, "p": shares}
    shorter = replace(DEFAULT, snapshots=2000)
    return {
        "default": [replace(DEFAULT, naive_every=1)],
        "N": [replace(DEFAULT, objects=n) for n in (500, 1000, 2500, 5000, 10_000)],
        "m": [replace(shorter, dimensions=m, naive_every=10 if m < 6 else 50) for m in range(2, 9)],
        "T": [replace(DEFAULT, snapshots=t, naive_every=50) for t in (1000, 5000, 10_000, 50_000)],
        "p": [replace(shorter, probability=p) for p in (0.005, 0.01, 0.025, 0.05, 0.1, 0.2)],
        "cfp": [replace(DEFAULT, cfp=cfp, naive_every=100) for cfp in (1, 10, 50, 100, 500, 2500)],
    }


def show(console: Console, title: str, results: list[dict[str, Any]]) -> None:
    table = Table(title=f"{title}: microseconds per snapshot, median over seeds", title_justify="left")
    for heading in ("N", "m", "T", "p", "cfp", "nested loop", "sort-filter", "skyline_of", "PRE", "SKY", "POST"):
        table.add_column(heading, justify="right")
    for heading in ("boxes", "forest", "best naive / boxes", "SKM", "skyline"):
        table.add_column(heading, justify="right")
    for result in results:
        case, measured = Case(**result["case"]), result["microseconds"]
        naive = [measured[name]["total"] for name in ("nested loop", "sort-filter", "skyline_of")]
        ours = [measured["boxes"][part] for part in ("PRE", "SKY", "POST", "total")]
        speedup = result["speedup"]["best naive / boxes"]
        table.add_row(
            f"{case.objects:,}",
            str(case.dimensions),
            f"{case.snapshots:,}",
            f"{case.probability:.1%}",
            str(case.cfp),
            *(f"{spread.median:,.1f}" for spread in [*naive, *ours, measured["forest"]["total"]]),
            f"{speedup.median:.1f} ({speedup.min:.1f}-{speedup.max:.1f})",
            *(f"{measured['sizes'][part].median:,.0f}" for part in ("SKM", "skyline")),
        )
    console.print(table)


def verdict(default: dict[str, Any]) -> tuple[Target, str]:
    """The number to reach at the paper's default, and where the forest stands beside it."""
    speedup, forest = default["speedup"]["best naive / boxes"].median, default["speedup"]["forest / boxes"].median
    stands = f"{forest:.1f} times the boxes' time" if forest > 1 else f"{1 / forest:.1f} times as fast as the boxes"
    target = Target("times as fast as the best naive recomputation, paper's default", 3.0, speedup, at_least=True)
    return target, f"        the live forest, which also says what changed and why: {stands}"


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(__doc__ or "", argv)
    console = Console(width=180)
    measure(replace(DEFAULT, objects=500, snapshots=CHUNK), seed=0)  # compiles everything
    results = {}
    for name, cases in sweeps(arguments.quick).items():
        seeds = range(1, 4) if name == "default" or not arguments.quick else range(1, 2)
        results[name] = [repeated(case, seeds) for case in cases]
        show(console, name, results[name])
    target, forest = verdict(results["default"][0])
    console.print(str(target), highlight=False)
    console.print(forest, highlight=False)
    if arguments.json:
        write_json(arguments.json, "snapshots", results | {"targets": [target]})


if __name__ == "__main__":
    main()
