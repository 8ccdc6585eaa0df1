"""Skylines of arrays: skyline_of beside moocore and paretoset, on the literature's three distributions.

Every rival sees the same arrays, keeps equal points, and must give the same rows. One that does not finish within the
time limit is shown as slower than it. `one thread` is skyline_of kept to one core, as the rivals are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import moocore
import numpy as np
from paretoset import paretoset
from rich.console import Console
from rich.table import Table

from benchmarks.datasets import DISTRIBUTIONS
from benchmarks.harness import Spread, Target, parse_arguments, write_json
from benchmarks.kit.limited import Run, limited
from skyline.batch import skyline_of
from skyline.view import Floats, Ints

OURS: Final = "skyline_of"
RIVALS: Final[dict[str, Callable[[Floats], Ints]]] = {
    OURS: skyline_of,
    "one thread": lambda points: skyline_of(points, threads=1),
    "moocore": lambda points: np.flatnonzero(moocore.is_nondominated(points, keep_weakly=True)),
    "paretoset": lambda points: np.flatnonzero(paretoset(points, distinct=False)),
}
PEERS: Final = ("moocore", "paretoset")


@dataclass(frozen=True)
class Case:
    points: int
    dimensions: int
    distribution: str

    def __str__(self) -> str:
        return f"{self.points:,} {self.dimensions}-D {self.distribution}"


@dataclass(frozen=True)
class Result:
    """Seconds of every rival that finished, and the size of the skyline."""

    case: Case
    members: int
    seconds: dict[str, Spread | None]

    def ratio(self, peer: str) -> float | None:
        """Our least time over the peer's; None if the peer did not finish.

        What disturbs a run only ever makes it longer, and short runs the most: the least says what the work takes.
        """
        ours, theirs = self.seconds[OURS], self.seconds[peer]
        return None if ours is None or theirs is None else ours.min / theirs.min

    @property
    def to_best(self) -> float:
        """Our time over the best of the peers that finished; 0 if none did."""
        return max((ratio for peer in PEERS if (ratio := self.ratio(peer)) is not None), default=0.0)


LIMITS: Final = (
    (Case(1_000_000, 5, "anti-correlated"), 0.3),
    (Case(1_000_000, 5, "independent"), 0.15),
    (Case(1_000_000, 3, "independent"), 0.25),
    (Case(1_000_000, 3, "correlated"), 0.25),
    (Case(1_000_000, 3, "anti-correlated"), 0.25),
)
"""At most so much of moocore's time."""


def cases(quick: bool) -> list[Case]:
    """The whole table; quick: up to 5-D, and of the million rows only those with a number to reach."""
    table = [Case(n, d, name) for n in (100_000, 1_000_000) for d in (3, 5, 8) for name in DISTRIBUTIONS]
    wanted = {case for case, _ in LIMITS}
    return [case for case in table if not quick or case in wanted or (case.points < 1_000_000 and case.dimensions < 8)]


def measure(case: Case, limit: float, times: int) -> Result:
    """Every rival on one array; raises if two that finished disagree."""
    points = DISTRIBUTIONS[case.distribution](case.points, case.dimensions, 1)
    runs: dict[str, Run] = {
        name: limited(lambda rival=rival: rival(points), limit, times)  # type: ignore[misc]
        for name, rival in RIVALS.items()
    }
    members = runs[OURS].rows
    if members is None:
        raise RuntimeError(f"{OURS} did not finish {case} within {limit:g} s")
    for name, run in runs.items():
        if run.rows is not None and not np.array_equal(run.rows, members):
            raise RuntimeError(f"{name} and {OURS} disagree about the skyline of {case}")
    return Result(case, len(members), {name: run.seconds for name, run in runs.items()})


def targets(results: Sequence[Result]) -> list[Target]:
    measured = {result.case: result for result in results}
    wanted = [
        Target(f"{case}, share of moocore's time", share, measured[case].ratio("moocore")) for case, share in LIMITS
    ]
    slowest = max(results, key=lambda result: result.to_best)
    return [*wanted, Target(f"worst case ({slowest.case}), share of the best peer's time", 1.0, slowest.to_best)]


def show(console: Console, results: Sequence[Result], limit: float) -> None:
    table = Table(title="milliseconds, least of the runs", title_justify="left")
    table.add_column("points")
    for heading in ("members", *RIVALS, "of moocore", "of best peer"):
        table.add_column(heading, justify="right")
    for result in results:
        ratio = result.ratio("moocore")
        table.add_row(
            str(result.case),
            f"{result.members:,}",
            *(f"{s.min * 1e3:,.1f}" if s else f"> {limit * 1e3:,.0f}" for s in result.seconds.values()),
            "" if ratio is None else f"{ratio:.3f}",
            f"{result.to_best:.3f}" if result.to_best else "",
        )
    console.print(table)


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(__doc__ or "", argv)
    console = Console(width=140)
    for dimensions in (3, 5):  # compiles everything, so that no process of a rival has to
        for rival in RIVALS.values():
            rival(DISTRIBUTIONS["anti-correlated"](20_000, dimensions, 1))
    limit, times = (12.0, 3) if arguments.quick else (40.0, 5)
    results = [measure(case, limit, times) for case in cases(arguments.quick)]
    show(console, results, limit)
    reached = targets(results)
    for target in reached:
        console.print(str(target), highlight=False)
    if arguments.json:
        write_json(arguments.json, "batch", {"cases": [_plain(result) for result in results], "targets": reached})


def _plain(result: Result) -> dict[str, Any]:
    ratios = {peer: result.ratio(peer) for peer in PEERS}
    return {"case": asdict(result.case), "members": result.members, "seconds": result.seconds, "ratios": ratios}


if __name__ == "__main__":
    main()
