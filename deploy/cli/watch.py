"""Print the changes of a view as they happen, in words."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import Final

from deploy.cli.console import Terminal
from deploy.cli.reading import end_of, reader
from deploy.cli.target import add_target_arguments, target
from deploy.cli.words import in_words
from skyline.runtime.drain import Drain
from skyline.runtime.process import stop_on_signals
from skyline.wire.changes import read_change

_STYLES: Final = {"enter": "green", "move": "yellow", "leave": "red"}
_SIGNS: Final = {"enter": "+", "move": "~", "leave": "-"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_arguments(parser)
    parser.add_argument("--from-start", action="store_true", help="begin with the first change that is kept")
    parser.add_argument("--count", type=int, metavar="N", help="end after this many changes")


def run(arguments: argparse.Namespace) -> int:
    view, kafka = target(arguments)
    topic = view.topic("changes")
    low, high = end_of(kafka, topic)
    console = Terminal()
    stop = stop_on_signals()
    left = arguments.count
    with Drain(reader(kafka), topic, 0, low if arguments.from_start else high) as drain:
        while not stop.is_set() and left != 0:
            records = drain.poll(0.2, left or 1000)
            for row in range(len(records)):
                change = read_change(records.value(row) or b"")
                when = datetime.fromtimestamp(change.at / 1000, UTC).strftime("%H:%M:%S")
                line = f"{when} {_SIGNS[change.op]} {in_words(change)}"
                console.print(line, style=_STYLES[change.op], soft_wrap=True, markup=False)
            left = None if left is None else left - len(records)
    return 0
