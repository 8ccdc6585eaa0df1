"""Print the changes of a view as they happen, in words."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from deploy.cli.console import Terminal
from deploy.cli.reading import end_of, reader
from deploy.cli.target import add_target_arguments, target
from deploy.cli.words import SIGNS, STYLES, in_words
from skyline.errors import InvalidInput
from skyline.runtime.drain import Drain
from skyline.runtime.process import stop_on_signals
from skyline.view import View
from skyline.wire.changes import read_change


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_arguments(parser)
    parser.add_argument("--from-start", action="store_true", help="begin with the first change that is kept")
    parser.add_argument("--count", type=count, metavar="N", help="end after this many changes")
    parser.add_argument("--last", metavar="N", help="of the newest N (or a duration) that the view's window watches")


def count(text: str) -> int:
    """For argparse: a number of changes."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is no number of changes: 0 or more")
    return number


def run(arguments: argparse.Namespace) -> int:
    view, kafka = target(arguments)
    topic = _topic(view, arguments.last)
    low, high = end_of(kafka, topic)
    console = Terminal()
    stop = stop_on_signals()
    left = arguments.count
    if console.is_terminal:  # silence would leave people wondering
        since = "from the first kept one on" if arguments.from_start else "from now on; --from-start shows others"
        console.print(f"{topic} {since}; times are UTC; Ctrl-C ends it", style="dim", soft_wrap=True)
    with Drain(reader(kafka), topic, 0, low if arguments.from_start else high) as drain:
        while not stop.is_set() and left != 0:
            records = drain.poll(0.2, left or 1000)
            for row in range(len(records)):
                change = read_change(records.value(row) or b"")
                when = datetime.fromtimestamp(change.at / 1000, UTC).strftime("%H:%M:%S")
                line = f"{when} {SIGNS[change.op]} {in_words(change)}"
                console.print(line, style=STYLES[change.op], soft_wrap=True, markup=False)
            left = None if left is None else left - len(records)
    return 0


def _topic(view: View, last: str | None) -> str:
    """Where the changes are told: of the whole view, or of the watch that `last` names."""
    if last is None:
        return view.topic("changes")
    watches = {view.window.label(n): kind for n, kind in view.watch_kinds.items()} if view.window else {}
    kind = watches.get(last.replace(" ", ""))
    if kind is None:
        known = ", ".join(watches) or "none"
        raise InvalidInput(f"view {view.name!r} does not watch the newest {last}; it watches: {known}")
    return view.topic(kind)
