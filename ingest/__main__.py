"""`python -m ingest SOURCE`: where updates come from. Each source composes itself, and only one is ever imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from skyline.runtime.process import run

SOURCES: Final = {
    "file": ("ingest.files.main", "rows of CSV, JSON Lines or Parquet files; resumes where it ended"),
    "http": ("ingest.http.main", "a server that takes updates and answers once they are written"),
    "generate": ("ingest.generate", "a made-up spot market, or the workloads of the papers"),
    "tick": ("ingest.ticker", "the time, once a second, so that objects expire in silence too"),
}


def main(argv: Sequence[str]) -> int:
    if not argv or argv[0] not in SOURCES:
        asked = bool(argv) and argv[0] in ("-h", "--help")
        print(_usage(argv), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 1
    source: Callable[[Sequence[str]], int] = import_module(SOURCES[argv[0]][0]).main
    return source(argv[1:])


def _usage(argv: Sequence[str]) -> str:
    lines = ["usage: python -m ingest SOURCE [options], where SOURCE is one of"]
    lines += [f"  {name:10}{meaning}" for name, (_, meaning) in SOURCES.items()]
    lines += ["python -m ingest SOURCE --help lists its options"]
    if argv and not argv[0].startswith("-"):
        lines.insert(0, f"error: there is no source {argv[0]!r}")
    return "\n".join(lines)


if __name__ == "__main__":
    run(main)
