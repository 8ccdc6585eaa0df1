"""Run Kafka and every service on this machine until Ctrl-C."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from deploy.cli.console import Terminal
from deploy.cli.interrupt import UntilInterrupted
from deploy.cli.target import HOME, add_views_argument, port
from deploy.local.broker import Broker
from deploy.local.place import local_place, write_prometheus
from deploy.local.ports import port_in_use
from deploy.local.running import refuse_ended, start_all
from deploy.local.services import Part, Service, services
from deploy.local.stack import Stack
from skyline.errors import SkylineError
from skyline.runtime.config import load_views

_COLOURS: Final = ("cyan", "magenta", "yellow", "green", "blue", "bright_cyan", "bright_magenta")
_BROKER_SECONDS: Final = 1.5
"""What a broker has to end in good order; killed, it only takes longer to start again."""

Show = Callable[[str, str], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_views_argument(parser)
    parser.add_argument(
        "--home", type=Path, default=HOME, metavar="DIR", help="data and checkpoints (default %(default)s)"
    )
    parser.add_argument("--port", type=port, default=9092, help="Kafka's, 0 takes a free one (default %(default)s)")
    parser.add_argument("--any-port", action="store_true", help="free ports for all services, for a second stack")
    parser.add_argument("--demo", action="store_true", help="also a market of spot instances, for the view spot")
    parser.add_argument("--standby", action="store_true", help="also a second maintainer that takes over")
    parser.add_argument("--archive", action="store_true", help="also the Spark job that archives to Parquet")


def run(arguments: argparse.Namespace) -> int:
    load_views(arguments.views)
    parts: list[Part] = ["core"]
    optional: tuple[Part, ...] = ("demo", "standby", "archive")
    chosen = services(*parts, *(part for part in optional if getattr(arguments, part)))
    fixed = None if arguments.any_port or not arguments.port else arguments.port
    broker = Broker(arguments.home / "kafka", fixed, dies_with_parent=True)
    show = _printer(Terminal())
    stack = Stack(show)
    with UntilInterrupted():
        try:
            _start(arguments, broker, stack, chosen, show)
            while True:
                refuse_ended(stack)
                broker.refuse_ended()
                time.sleep(0.2)
        finally:
            try:
                stack.stop_all()
            finally:  # a signal may strike just there
                broker.stop(_BROKER_SECONDS)
    return 0


def _start(arguments: argparse.Namespace, broker: Broker, stack: Stack, chosen: Sequence[Service], show: Show) -> None:
    """Broker, services, and a word when all of them are ready."""
    if not arguments.any_port:
        _refuse_taken_ports(chosen)
    broker.start()
    show("kafka", f"answers at {broker.address}, logs to {broker.log}")
    place = local_place(broker.address, arguments.views, arguments.home, chosen, any_port=arguments.any_port)
    scraping = write_prometheus(arguments.home / "prometheus", place, chosen)
    start_all(stack, place, chosen)
    for service in chosen:
        if service.name == "query":
            show("ready", f"page and API at http://127.0.0.1:{service.port_at(place)}")
        if service.name == "ingest":
            show("ready", f"updates are taken at http://127.0.0.1:{service.port_at(place)}")
    show("ready", f"for Prometheus: prometheus --config.file={scraping}")


def _refuse_taken_ports(chosen: Sequence[Service]) -> None:
    """Before anything starts: a stack with one service missing is worse than none."""
    for service in chosen:
        if service.port is not None and port_in_use(service.port):
            raise SkylineError(f"port {service.port} of {service.name} is in use: is a stack up? See --any-port")


def _printer(console: Console) -> Show:
    colours: dict[str, str] = {}

    def show(name: str, line: str) -> None:
        colour = colours.setdefault(name, _COLOURS[len(colours) % len(_COLOURS)])
        console.print(Text(f"{name:<11}", style=colour) + Text(line), soft_wrap=True)

    return show
