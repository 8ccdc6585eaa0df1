"""Run the spot market on a fresh local Kafka and show its skyline; with --seconds, check it and end."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, TopicPartition
from rich.console import Console
from rich.live import Live

from deploy.cli.board import Board
from deploy.cli.console import Terminal
from deploy.cli.interrupt import UntilInterrupted
from deploy.cli.reading import current_members, end_of, reader
from deploy.cli.tables import member_table
from deploy.cli.target import add_views_argument
from deploy.cli.verify import Verdict, verify
from deploy.local.broker import Broker
from deploy.local.place import local_place
from deploy.local.running import refuse_ended, start_all
from deploy.local.services import MAINTAINER_GROUP, SERVICES
from deploy.local.stack import Stack
from skyline.errors import SkylineError
from skyline.runtime.config import KafkaSettings, chosen_view, load_views
from skyline.runtime.drain import Drain
from skyline.view import View

_VIEW: Final = "spot"
_MAINTAINER: Final = "maintainer"
_SOURCES: Final = ("market", "ticker")
_CATCH_UP_SECONDS: Final = 60.0
_FRAME_SECONDS: Final = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", type=duration, default=0.0, metavar="S", help="end and check after this long; 0 runs until Ctrl-C"
    )
    add_views_argument(parser)


def duration(text: str) -> float:
    """For argparse: a number of seconds."""
    seconds = float(text)
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no duration: 0 or more seconds")
    return seconds


def run(arguments: argparse.Namespace) -> int:
    view = chosen_view(load_views(arguments.views), _VIEW)
    with UntilInterrupted(), tempfile.TemporaryDirectory(prefix="skyline-demo-") as scratch:
        return _demo(Terminal(), arguments.views, view, arguments.seconds, Path(scratch))
    # without an end of its own a signal is the way to end it; with one, the check is what somebody waits for
    return 130 if arguments.seconds else 0


def _demo(console: Console, views: Path, view: View, seconds: float, home: Path) -> int:
    broker = Broker(home / "kafka", dies_with_parent=True)
    stack = Stack(lambda _name, _line: None)  # the table is what one sees; a service that ends is quoted
    try:
        console.print("Starting Kafka …")
        kafka = KafkaSettings(broker.start().address)
        chosen = [service for service in SERVICES if service.name in (_MAINTAINER, *_SOURCES)]
        place = local_place(broker.address, views, home, chosen, any_port=True)
        console.print("Starting the maintainer, a market of spot instances and a ticker …")
        with console.status("") as status:
            start_all(stack, place, chosen, lambda waiting: status.update(f"waiting for {waiting}"))
        _show(console, stack, broker, view, seconds)
        for name in _SOURCES:
            stack.stop(name)
        _wait_until_caught_up(kafka, view, lambda: refuse_ended(stack))
        console.print("The skyline when the last update was applied:")
        console.print(member_table(view, current_members(kafka, view).values(), width=console.width))
        return _report(console, verify(kafka, view))
    finally:
        try:  # at once: what they would still write goes with the directory
            stack.kill_all()
        finally:  # a signal may strike just there
            broker.kill()


def _show(console: Console, stack: Stack, broker: Broker, view: View, seconds: float) -> None:
    """The skyline as a table that follows V.changes, until time is up."""
    board = Board(view)
    deadline = time.monotonic() + seconds if seconds else float("inf")
    hint = "" if seconds else "Ctrl-C ends the demo"
    settings = reader(KafkaSettings(broker.address))
    with Drain(settings, view.topic("changes"), 0, 0) as drain, Live(console=console, auto_refresh=False) as live:
        while (now := time.monotonic()) < deadline:
            board.take(drain.poll(_FRAME_SECONDS), now)
            refuse_ended(stack)
            broker.refuse_ended()
            live.update(board.draw(console.width, console.height, now, hint), refresh=True)


def _wait_until_caught_up(kafka: KafkaSettings, view: View, refuse: Callable[[], None]) -> None:
    """Returns once every update is committed by the maintainer's group. `refuse` raises when there is no hope."""
    source = TopicPartition(view.topic("updates"), 0)
    past = end_of(kafka, source.topic)[1]
    deadline = time.monotonic() + _CATCH_UP_SECONDS
    with closing(Consumer(kafka.client(group_id=f"{MAINTAINER_GROUP}.{view.name}"))) as consumer:
        while consumer.committed([source], timeout=10)[0].offset < past:
            refuse()
            if time.monotonic() > deadline:
                raise SkylineError(f"the maintainer has not caught up within {_CATCH_UP_SECONDS:.0f} s")
            time.sleep(0.1)


def _report(console: Console, verdict: Verdict) -> int:
    if verdict.right:
        console.print(
            f"Checked: {verdict.members} members, equal to the skyline recomputed from all {verdict.updates:,} updates "
            f"({verdict.objects:,} objects are valid now)."
        )
        return 0
    console.print(f"WRONG: published but not in the skyline {verdict.wrong[:10]}, missing {verdict.missing[:10]}")
    return 1
