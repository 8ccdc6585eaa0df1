"""A rival that may take hours gets a process of its own, and so much time."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Final

from benchmarks.harness import Spread
from skyline.view import Ints

_FORK: Final = multiprocessing.get_context("fork")
"""Data and compiled code are there already in a fork, and cost nothing to hand over."""


_AT_LEAST: Final = 0.2


@dataclass(frozen=True)
class Run:
    """Seconds, and the rows that came out; neither if the time was up, or memory."""

    seconds: Spread | None
    rows: Ints | None


def limited(run: Callable[[], Ints], seconds: float, times: int) -> Run:
    """At least `times` runs, if they fit into `seconds`, after a first one that counts only if no other fits.

    Short runs are repeated for a fifth of a second: they are the most easily disturbed.
    """
    here, there = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=_child, args=(run, seconds, times, there))
    child.start()
    there.close()
    try:
        outcome = here.recv() if here.poll(seconds) else None
    except EOFError:
        outcome = None
    child.kill()
    child.join()
    return Run(None, None) if outcome is None else Run(Spread.of(outcome[0]), outcome[1])


def _child(run: Callable[[], Ints], seconds: float, times: int, report: Connection) -> None:
    """Stops repeating when one more run might not end in time."""
    start = perf_counter()
    rows = run()
    warm = perf_counter() - start
    measured: list[float] = []
    while (len(measured) < times or sum(measured) < _AT_LEAST) and perf_counter() - start + 1.5 * warm < seconds / 2:
        begin = perf_counter()
        run()
        measured.append(perf_counter() - begin)
    report.send((measured or [warm], rows))
