"""What every benchmark shares: its options, its repetitions, and the machine and commit its results belong to.

A benchmark is `python -m benchmarks.NAME [--quick] [--json FILE]`. It warms up, repeats, compares its rivals in one
run, prints tables, and writes what it measured as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Spread:
    """Least, median and greatest of repeated measurements, in seconds unless said otherwise."""

    min: float
    median: float
    max: float

    @classmethod
    def of(cls, measurements: Sequence[float]) -> Spread:
        return cls(min(measurements), statistics.median(measurements), max(measurements))


def repeat(run: Callable[[], object], times: int = 5, warmup: int = 1) -> Spread:
    """Seconds that `run` takes, over `times` runs after `warmup` runs that are not counted."""
    for _ in range(warmup):
        run()
    seconds = []
    for _ in range(times):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    return Spread.of(seconds)


@dataclass(frozen=True)
class Target:
    """A number to reach, and what was measured in this run; None if nothing was."""

    name: str
    wanted: float
    measured: float | None
    unit: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        if self.measured is None:
            return False
        return self.measured >= self.wanted if self.at_least else self.measured <= self.wanted

    def __str__(self) -> str:
        verdict, bound = "met   " if self.met else "MISSED", "at least" if self.at_least else "at most"
        measured = "not measured" if self.measured is None else f"{self.measured:.3g}{self.unit}"
        return f"{verdict}  {self.name}: {measured}, wanted {bound} {self.wanted:g}{self.unit}"


def parse_arguments(description: str, argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The two options that every benchmark has: `quick` (bool) and `json` (Path or None)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer cases and repetitions, about half a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    return parser.parse_args(argv)


def machine() -> dict[str, str | int]:
    """Where this runs: processor, cores, operating system, versions of what does the work."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 0,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
    }


def commit() -> str:
    """The commit that is measured, with "+changes" if the library or the benchmarks differ from it."""
    head = _git("rev-parse", "--short=12", "HEAD").stdout.strip()
    measured = ("skyline", "benchmarks/*.py")
    changed = _git("diff", "--quiet", "HEAD", "--", *measured).returncode != 0
    return (head or "unknown") + ("+changes" if changed else "")


def write_json(path: Path, name: str, results: object) -> None:
    """Writes results with the machine, the commit and the command line they belong to."""
    document = {
        "benchmark": name,
        "arguments": [argument for argument in sys.argv[1:] if argument.startswith("--") and argument != "--json"],
        "commit": commit(),
        "machine": machine(),
        "results": results,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2, default=_plain) + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, Target):
        return asdict(value) | {"met": value.met}
    if isinstance(value, Spread):
        return asdict(value)
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"cannot write {value!r} as JSON")


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parent.parent
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
