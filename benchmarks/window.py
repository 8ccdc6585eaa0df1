"""Windows: the settings of "Stabbing the Sky" (N up to 1M, 2 to 5 dimensions, three distributions), one core.

What is measured: elements per second into a full window, beside a flat scan of R_N in the same run (mnN); with a
history (mn12N); last(n) and between(n1, n2) for random n (nN, n12N); 20 standing queries beside asking again after
every element (cnN); and how many elements are kept, beside theory and the paper's figure 4. Times are processor time
of the one thread that does the work: what else the machine is busy with does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.datasets import DISTRIBUTIONS
from benchmarks.harness import Spread, parse_arguments, write_json
from benchmarks.window_kernels import flat_append
from benchmarks.window_theory import FIGURE_4, expected_retained
from skyline.view import Floats
from skyline.window import SkylineWindow

PARTS: Final = 5
"""Measurements of one rate: the stream in as many parts."""
Result = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A stream through a window of `size`; `target` is the issue's number, in elements per second."""

    size: int
    dims: int
    distribution: str
    target: int | None = None
    measured: int = 100_000
    in_quick: bool = True

    @property
    def name(self) -> str:
        return f"N={_short(self.size)} d={self.dims} {self.distribution}"

    def stream(self) -> Floats:
        return DISTRIBUTIONS[self.distribution](self.size + self.measured, self.dims, 1)

    def window(self, history: bool = False) -> SkylineWindow:
        return SkylineWindow({f"d{k}": "min" for k in range(self.dims)}, size=self.size, history=history)


K, M = 1_000, 1_000_000
APPENDS: Final = (
    Case(100 * K, 2, "independent", 500 * K),
    Case(100 * K, 2, "correlated", 500 * K),
    Case(100 * K, 2, "anti-correlated", 500 * K),
    Case(100 * K, 3, "independent", in_quick=False),
    Case(100 * K, 3, "anti-correlated", 300 * K),
    Case(100 * K, 4, "independent", in_quick=False),
    Case(100 * K, 4, "anti-correlated", in_quick=False),
    Case(100 * K, 5, "independent", 200 * K),
    Case(100 * K, 5, "correlated", in_quick=False),
    Case(100 * K, 5, "anti-correlated", 100 * K),
    Case(M, 2, "anti-correlated", in_quick=False),
    Case(M, 5, "independent", in_quick=False),
    Case(M, 5, "anti-correlated", 40 * K),
)
QUERIES: Final = (
    Case(M, 2, "independent"),
    Case(M, 2, "anti-correlated"),
    Case(M, 3, "anti-correlated", in_quick=False),
    Case(M, 5, "independent", in_quick=False),
    Case(M, 5, "anti-correlated", in_quick=False),
)
STANDING: Final = (
    Case(M, 2, "independent", measured=50 * K),
    Case(M, 2, "anti-correlated", measured=50 * K),
    Case(M, 5, "independent", measured=50 * K, in_quick=False),
    Case(M, 5, "anti-correlated", measured=50 * K, in_quick=False),
)
LAST_MICROSECONDS: Final = 20.0
STANDING_RATIO: Final = 2.0
HISTORY_RATIO: Final = 1.5
FLAT_SECONDS: Final = 1.0
"""About as long as the flat scan is let run: it needs no longer to be known."""


def main() -> None:
    arguments = parse_arguments(__doc__ or "")
    console = Console(width=150)
    results: dict[str, list[Result]] = {}

    def run(title: str, cases: tuple[Case, ...], measure: Callable[[Case], Result]) -> None:
        rows = [measure(case) for case in cases if case.in_quick or not arguments.quick]
        results[title] = rows
        console.print(_table(title, rows))

    _warm_up()
    run("elements per second into a full window", APPENDS, measure_append)
    run("queries, microseconds each", QUERIES, partial(measure_queries, most=20 * K if arguments.quick else 2 * M))
    run("20 standing queries", STANDING, measure_standing)
    run("elements kept at N = 100K", _kept_cases(), measure_kept)
    misses = [
        f"{title}: {row['case']}" for title, rows in results.items() for row in rows if row["verdict"] == "MISSED"
    ]
    console.print("every number reached" if not misses else "missed: " + "; ".join(misses))
    if arguments.json:
        write_json(arguments.json, "window", results)


def measure_append(case: Case) -> Result:
    """Rates of a window, of one with a history, and of a flat scan of R_N that starts from the same elements."""
    stream = case.stream()
    plain, past = case.window(), case.window(history=True)
    for window in (plain, past):
        window.append(stream[: case.size])
    kept = plain.retained()
    flat = _flat_rate(case, stream, plain)
    rates, ratios = [], []
    for part in np.array_split(stream[case.size :], PARTS):
        without, with_history = (_seconds(window.append, part) for window in (plain, past))
        rates.append(len(part) / without)
        ratios.append(with_history / without)
    rate, ratio = Spread.of(rates), Spread.of(ratios)
    met = (case.target is None or rate.median >= case.target) and ratio.median <= HISTORY_RATIO
    return {
        "case": case.name, "kept": len(kept), "per second": rate, "target": case.target, "flat scan": flat,
        "faster": rate.median / flat, "with history, times": ratio, "limit": HISTORY_RATIO, "verdict": _verdict(met),
    }  # fmt: skip


def measure_queries(case: Case, most: int) -> Result:
    """last(n) and between(n1, n2) for random n from 1000 on; `most` of them in 2-D, 20K in more dimensions."""
    window = case.window(history=True)
    window.append(case.stream())
    rng = np.random.default_rng(2)
    count = most if case.dims == 2 else 20 * K
    ns = rng.integers(K, case.size + 1, count).tolist()
    last = _each(window.last, [(n,) for n in ns])
    pairs = [(min(a, b), max(a, b)) for a, b in zip(ns[: 10 * K], ns[-10 * K :], strict=True) if abs(a - b) >= 500]
    between = _each(window.between, pairs)
    answers = float(np.mean([len(window.last(n)) for n in ns[:200]]))
    bound = LAST_MICROSECONDS if case.dims == 2 else None
    return {
        "case": case.name, "queries": count, "mean answer": answers, "last(n)": last, "target": bound,
        "between(n1, n2)": between, "verdict": _verdict(bound is None or last.median < bound),
    }  # fmt: skip


def measure_standing(case: Case) -> Result:
    """10 queries for n up to 10K and 10 up to N, polled ten times on the way.

    The cost of the 20 is counted in appends: the time per element with them, less the time without, by the latter.
    """
    stream = case.stream()
    alone, watched = case.window(), case.window()
    for window in (alone, watched):
        window.append(stream[: case.size])
    watches = [watched.watch(i * size // 10) for size in (10 * K, case.size) for i in range(1, 11)]
    changes, costs, again = 0, [], []
    for part in np.array_split(stream[case.size :], 2 * PARTS):
        without = _seconds(alone.append, part)
        start = process_time()
        watched.append(part)
        polled = [watch.poll() for watch in watches]
        seconds = process_time() - start
        changes += sum(len(entered) + len(left) for entered, left in polled)
        costs.append((seconds - without) / without)
        start = process_time()
        for i in range(1, 11):
            alone.last(i * K)
            alone.last(i * case.size // 10)
        again.append((process_time() - start) * len(part) / without)
    cost = Spread.of(costs)
    return {
        "case": case.name, "changes": changes, "cost in appends": cost, "target": STANDING_RATIO,
        "asking again instead": Spread.of(again), "verdict": _verdict(cost.median < STANDING_RATIO),
    }  # fmt: skip


def measure_kept(case: Case) -> Result:
    """Mean |R_N| over snapshots of a full window."""
    window, stream = case.window(), case.stream()
    window.append(stream[: case.size])
    sizes = []
    for part in np.array_split(stream[case.size :], 10):
        window.append(part)
        sizes.append(len(window.retained()))
    kept = float(np.mean(sizes))
    theory = expected_retained(case.size, case.dims) if case.distribution == "independent" else None
    met = theory is None or abs(kept / theory - 1) <= 0.15
    printed = FIGURE_4[case.distribution][case.dims]
    return {"case": case.name, "kept": kept, "theory": theory, "figure 4": printed, "verdict": _verdict(met)}


def _kept_cases() -> tuple[Case, ...]:
    return tuple(Case(100 * K, dims, distribution) for distribution in DISTRIBUTIONS for dims in range(2, 6))


def _flat_rate(case: Case, stream: Floats, window: SkylineWindow) -> float:
    """Elements per second of the flat scan, from the state of the window on."""
    retained = window.retained()
    count, capacity = len(retained), len(retained) + case.measured
    kept = np.empty((capacity, case.dims))
    positions, origins = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    kept[:count], positions[:count], origins[:count] = window.points(retained), retained, -1
    done, seconds, step = 0, 0.0, 200
    while done < case.measured and seconds < FLAT_SECONDS:
        part = stream[case.size + done : case.size + done + step]
        start = process_time()
        count = flat_append(kept, positions, origins, count, part, case.size + done, case.size)
        seconds += process_time() - start
        done += len(part)
    return done / seconds


def _warm_up() -> None:
    """Compiles everything, or loads it from the cache: for each number of dimensions."""
    for dims in range(2, 6):
        case = Case(500, dims, "independent", measured=500)
        window = case.window(history=True)
        window.append(case.stream())
        _flat_rate(case, case.stream(), window)
        watch = window.watch(100)
        window.append(case.stream())
        watch.poll()
        window.between(3, 10)
        case.window().append(case.stream())


def _each(call: Callable[..., object], arguments: Sequence[tuple[int, ...]]) -> Spread:
    """Microseconds per call, over five shares of the calls."""
    shares = [arguments[i::PARTS] for i in range(PARTS)]
    return Spread.of(
        [_seconds(lambda share=share: [call(*each) for each in share]) / len(share) * 1e6 for share in shares]
    )


def _seconds(call: Callable[..., object], *arguments: object) -> float:
    start = process_time()
    call(*arguments)
    return process_time() - start


def _verdict(met: bool) -> str:
    return "reached" if met else "MISSED"


def _table(title: str, rows: list[Result]) -> Table:
    table = Table(title=title, title_justify="left")
    for name in rows[0]:
        table.add_column(name, justify="left" if name == "case" else "right")
    for row in rows:
        table.add_row(*[_cell(value) for value in row.values()])
    return table


def _cell(value: object) -> str:
    if isinstance(value, Spread):
        return f"{_cell(value.median)} ({_cell(value.min)} to {_cell(value.max)})"
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _short(size: int) -> str:
    return f"{size // M}M" if size >= M else f"{size // K}K"


if __name__ == "__main__":
    main()
