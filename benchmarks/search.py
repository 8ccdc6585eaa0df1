"""The index: how it is built, every variation of the BBS paper, and answers while a topic is followed.

Each search is timed to its first and to its last member, with the pages it reads: nodes of 4 KB as the paper counts
them (its section 6: 95 for a million independent points in three dimensions, 380 for anti-correlated ones).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.datasets import DISTRIBUTIONS
from benchmarks.harness import Spread, Target, parse_arguments, repeat, write_json
from benchmarks.kit.following import Following, follow
from skyline.search import Members, SkylineIndex

MILLION: Final = 1_000_000
PAPER_PAGES: Final = {"independent": 95, "anti-correlated": 380}
PAPER_SIZES: Final = {1: 119, 10: 788}
"""Members of the skyline and of the paper's 9-skyband, independent."""

SEARCHES: Final[dict[str, Callable[[SkylineIndex], Members]]] = {
    "skyline": lambda index: index.skyline(),
    "constrained": lambda index: index.constrained([0.3] * 3, [0.7] * 3),
    "ranked, 10": lambda index: index.ranked([1.0, 2.0, 3.0], 10),
    "dynamic": lambda index: index.dynamic([0.5] * 3),
    "skyband, 10": lambda index: index.skyband(10),
    "subspace, 2 of 3": lambda index: index.subspace([0, 2]),
    "all at once": lambda index: index.search(
        low=[0.3] * 3, dims=[0, 2], reference=[0.5, None, None], weights=[1.0, 2.0, 3.0], k=3, limit=10
    ),
}
WHOLE: Final[dict[str, Callable[[SkylineIndex], Any]]] = {
    "enumerated": lambda index: index.enumerated(),
    "dominating, 10": lambda index: index.dominating(10),
    "approximate, 20": lambda index: index.approximate(20),
}
FEW_GROUPS: Final = (10, 100)
MANY_GROUPS: Final = (10, 100, 1000)


@dataclass(frozen=True)
class Searched:
    """One search on one index: seconds to the first and to the last member, members, pages."""

    data: str
    search: str
    first: Spread | None
    last: Spread
    members: int
    pages: int


@dataclass(frozen=True)
class Built:
    points: int
    dimensions: int
    distribution: str
    seconds: Spread
    first: Spread
    last: Spread
    members: int
    pages: int


def progressive(data: str, name: str, index: SkylineIndex, search: Callable[[SkylineIndex], Members]) -> Searched:
    """Times a search that hands out members one by one."""
    first = repeat(lambda: next(search(index), None), times=9)
    last = repeat(lambda: search(index).rest(), times=5)
    members = search(index)
    count = len(members.rest())
    return Searched(data, name, first, last, count, members.node_accesses)


def whole(data: str, name: str, index: SkylineIndex, search: Callable[[SkylineIndex], Any]) -> Searched:
    """Times a search that answers all at once."""
    last = repeat(lambda: search(index), times=3)
    answer = search(index)
    sizes = (
        [len(part) for part in answer.values()] if isinstance(answer, dict) else [len(getattr(answer, "ids", answer))]
    )
    return Searched(data, name, None, last, sum(sizes), index.node_accesses)


def variations(points: int, numbers_of_groups: Sequence[int]) -> list[Searched]:
    """Every variation, on independent and anti-correlated points in three dimensions."""
    searched = []
    for data in PAPER_PAGES:
        drawn = DISTRIBUTIONS[data](points, 3, 1)
        index = SkylineIndex(drawn)
        searched += [progressive(data, name, index, search) for name, search in SEARCHES.items()]
        searched += [whole(data, name, index, search) for name, search in WHOLE.items()]
        for groups in numbers_of_groups:
            labels = np.random.default_rng(groups).integers(0, groups, points)
            labelled = SkylineIndex(drawn, labels=labels)
            searched.append(whole(data, f"grouped, {groups:,} groups", labelled, lambda index: index.grouped()))
            searched.append(
                progressive(data, f"one of {groups:,} groups", labelled, lambda index: index.search(label=3))
            )
    return searched


def built(points: int, dimensions: int, distribution: str) -> Built:
    drawn = DISTRIBUTIONS[distribution](points, dimensions, 1)
    seconds = []
    for _ in range(3):
        start = perf_counter()
        index = SkylineIndex(drawn)
        seconds.append(perf_counter() - start)
    found = progressive(distribution, "skyline", index, lambda index: index.skyline())
    assert found.first is not None
    spread = Spread.of(seconds)
    return Built(points, dimensions, distribution, spread, found.first, found.last, found.members, found.pages)


def targets(build: Built, searched: Sequence[Searched], following: Following) -> list[Target]:
    by_name = {(one.data, one.search): one for one in searched}
    band = by_name["independent", "skyband, 10"].members / PAPER_SIZES[10]
    anti = by_name["anti-correlated", "skyline"]
    return [
        Target("1M 3-D independent, built", 1.0, build.seconds.median, " s"),
        Target("first member", 1.0, build.first.median * 1e3, " ms"),
        Target("all members", 5.0, build.last.median * 1e3, " ms"),
        Target("pages, times the paper's 95", 2.0, build.pages / PAPER_PAGES["independent"]),
        Target("skyline size, times the paper's 119", 2.0, build.members / PAPER_SIZES[1]),
        Target("9-skyband size, times the paper's 788", 2.0, band),
        Target("anti-correlated pages, times the paper's 380", 2.0, anti.pages / PAPER_PAGES["anti-correlated"]),
        Target("anti-correlated, all members", 5.0, anti.last.median * 1e3, " ms"),
        Target("updates while answering", 20_000, following.updates_per_second, "/s", at_least=True),
        *(Target(f"{name} while following, p99", 50.0, p99, " ms") for name, (_, p99, _) in following.latency.items()),
    ]


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(__doc__ or "", argv)
    console = Console(width=140)
    variations(20_000, (10,))  # compiles everything
    dimensions = (3,) if arguments.quick else (2, 3, 4, 5)
    builds = [built(MILLION, d, name) for d in dimensions for name in DISTRIBUTIONS]
    show_builds(console, builds)
    searched = variations(MILLION, FEW_GROUPS if arguments.quick else MANY_GROUPS)
    show_searches(console, searched)
    following = follow(MILLION, seconds=8 if arguments.quick else 60)
    show_following(console, following)
    main_build = next(b for b in builds if (b.dimensions, b.distribution) == (3, "independent"))
    reached = targets(main_build, searched, following)
    for target in reached:
        console.print(str(target), highlight=False)
    if arguments.json:
        tables = {"built": [asdict(one) for one in builds], "searched": [asdict(one) for one in searched]}
        write_json(arguments.json, "search", tables | {"following": asdict(following), "targets": reached})


def show_builds(console: Console, builds: Sequence[Built]) -> None:
    table = _table("a million points", "points", "build s", "first ms", "all ms", "members", "pages")
    for one in builds:
        table.add_row(
            f"{one.dimensions}-D {one.distribution}", f"{one.seconds.median:.2f}", _ms(one.first), _ms(one.last),
            f"{one.members:,}", f"{one.pages:,}",
        )  # fmt: skip
    console.print(table)


def show_searches(console: Console, searched: Sequence[Searched]) -> None:
    title = "every variation, a million points in three dimensions"
    table = _table(title, "points", "search", "first ms", "last ms", "members", "pages")
    for one in searched:
        first = "" if one.first is None else _ms(one.first)
        table.add_row(one.data, one.search, first, _ms(one.last), f"{one.members:,}", f"{one.pages:,}")
    console.print(table)


def show_following(console: Console, following: Following) -> None:
    title = f"answers among {following.updates_per_second:,.0f} updates/s on a million objects, milliseconds"
    table = _table(title, "search", "median", "p99", "slowest")
    for name, latency in following.latency.items():
        table.add_row(name, *(f"{value:.2f}" for value in latency))
    console.print(table)


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("points", "search") else "right")
    return table


def _ms(spread: Spread) -> str:
    return f"{spread.median * 1e3:,.3f}"


if __name__ == "__main__":
    main()
