"""Print the changes of a view as they happen, in words."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import Final

from rich.console import Console

from deploy.cli.target import add_target_arguments, target
from deploy.cli.topics import end_of
from deploy.cli.words import in_words
from skyline.runtime.drain import Drain
from skyline.runtime.process import stop_on_signals
from skyline.wire.changes import read_change

_STYLES: Final = {"enter": "green", "move": "yellow", "leave": "red"}
_SIGNS: Final = {"enter": "+", "move": "~", "leave": "-"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_arguments(parser)
    parser.add_argument("--from-start", action="store_true", help="begin with the first change ever")
    parser.add_argument("--count", type=int, help="end after this many changes")


def run(arguments: argparse.Namespace) -> int:
    view, kafka = target(arguments)
    topic = view.topic("changes")
    low, high = end_of(kafka, topic)
    console = Console(highlight=False)
    stop = stop_on_signals()
    left = arguments.count
    settings = kafka.client(group_id="skyline-cli", isolation_level="read_committed")
    with Drain(settings, topic, 0, low if arguments.from_start else high) as drain:
        while not stop.is_set() and left != 0:
            records = drain.poll(0.2, left or 1000)
            for row in range(len(records)):
                change = read_change(records.value(row) or b"")
                when = datetime.fromtimestamp(change.at / 1000, UTC).strftime("%H:%M:%S")
                line = f"{when} {_SIGNS[change.op]} {in_words(change)}"
                console.print(line, style=_STYLES[change.op], soft_wrap=True, markup=False)
            left = None if left is None else left - len(records)
    return 0
