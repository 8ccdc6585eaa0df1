"""Run the spot market on a fresh local Kafka and show its skyline; with --seconds, check it and end."""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections import deque
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, TopicPartition
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from deploy.cli.tables import member_table
from deploy.cli.topics import end_of, take
from deploy.cli.verify import Verdict, verify
from deploy.local.broker import Broker
from deploy.local.services import GENERATORS, MAINTAINER_GROUP, start_services
from deploy.local.stack import Stack
from skyline.errors import SkylineError
from skyline.runtime.config import KafkaSettings, chosen_view, load_views
from skyline.runtime.drain import Drain
from skyline.runtime.process import stop_on_signals
from skyline.view import View
from skyline.wire.changes import MemberRecord

_VIEW: Final = "spot"
_CATCH_UP_SECONDS: Final = 60.0
_SHOWN: Final = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=0.0, help="end and check after this long; 0 runs until Ctrl-C")
    parser.add_argument("--views", type=Path, default=Path("views.toml"), help="default %(default)s")


def run(arguments: argparse.Namespace) -> int:
    view = chosen_view(load_views(arguments.views), _VIEW)
    console = Console()
    stop = stop_on_signals()
    lines: deque[str] = deque(maxlen=200)
    with tempfile.TemporaryDirectory(prefix="skyline-demo-") as scratch:
        home = Path(scratch)
        broker = Broker(home / "kafka", dies_with_parent=True)
        stack = Stack(lambda name, line: lines.append(f"{name}: {line}"))
        try:
            console.print("Starting Kafka …")
            kafka = KafkaSettings(broker.start().address)
            start_services(stack, broker.address, arguments.views, home, demo=True, only_demo=True)
            _show(console, stack, kafka, view, stop, arguments.seconds, lines)
            if not arguments.seconds or stop.is_set():
                return 0
            for name in GENERATORS:
                stack.stop(name)
            _wait_until_caught_up(kafka, view)
            return _report(console, verify(kafka, view))
        finally:
            stack.stop_all()
            broker.stop()


def _show(
    console: Console,
    stack: Stack,
    kafka: KafkaSettings,
    view: View,
    stop: threading.Event,
    seconds: float,
    lines: deque[str],
) -> None:
    """The skyline as a table that follows V.skyline, until time is up or a signal came."""
    members: dict[str, MemberRecord] = {}
    deadline = time.monotonic() + seconds if seconds else float("inf")
    _wait_for_topic(kafka, view, stack, lines)
    settings = kafka.client(group_id="skyline-cli", isolation_level="read_committed")
    with Drain(settings, view.topic("skyline"), 0, 0) as drain, Live(console=console, refresh_per_second=4) as live:
        while time.monotonic() < deadline and not stop.is_set():
            take(members, drain.poll(0.2))
            _refuse_ended(stack, lines)
            newest = max(members.values(), key=lambda member: member.seq, default=None)
            status = f"{len(members)} members, change {newest.seq if newest else 0}"
            hint = Text("  Ctrl-C ends the demo", style="dim") if not seconds else Text("")
            live.update(Group(member_table(view, members.values(), f"{view.name}: {status}", _SHOWN), hint))
    console.print(member_table(view, members.values(), f"{view.name}: {len(members)} members"))


def _wait_for_topic(kafka: KafkaSettings, view: View, stack: Stack, lines: deque[str]) -> None:
    deadline = time.monotonic() + _CATCH_UP_SECONDS
    while True:
        _refuse_ended(stack, lines)
        try:
            end_of(kafka, view.topic("skyline"))
            return
        except SkylineError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _refuse_ended(stack: Stack, lines: deque[str]) -> None:
    ended = stack.ended()
    if ended is not None:
        last = "\n".join(line for line in list(lines)[-10:] if line.startswith(ended[0]))
        raise SkylineError(f"{ended[0]} ended with code {ended[1]}:\n{last}")


def _wait_until_caught_up(kafka: KafkaSettings, view: View) -> None:
    """Returns once every update is committed by the maintainer's group."""
    source = TopicPartition(view.topic("updates"), 0)
    consumer = Consumer(kafka.client(group_id=f"{MAINTAINER_GROUP}.{view.name}"))
    deadline = time.monotonic() + _CATCH_UP_SECONDS
    try:
        while time.monotonic() < deadline:
            done = consumer.committed([source], timeout=10)[0].offset
            if done >= end_of(kafka, source.topic)[1]:
                return
            time.sleep(0.1)
    finally:
        consumer.close()
    raise SkylineError(f"the maintainer has not caught up within {_CATCH_UP_SECONDS:.0f} s")


def _report(console: Console, verdict: Verdict) -> int:
    if verdict.right:
        console.print(
            f"Checked: {verdict.members} members, equal to the skyline recomputed from all {verdict.updates:,} updates "
            f"({verdict.objects:,} objects are valid now)."
        )
        return 0
    console.print(f"WRONG: published but not in the skyline {verdict.wrong[:10]}, missing {verdict.missing[:10]}")
    return 1
