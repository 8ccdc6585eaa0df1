"""Run Kafka and every service on this machine until Ctrl-C."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from deploy.local.broker import Broker
from deploy.local.services import start_services
from deploy.local.stack import Stack
from skyline.errors import SkylineError
from skyline.runtime.config import load_views
from skyline.runtime.process import stop_on_signals

_COLOURS: Final = ("cyan", "magenta", "yellow", "green", "blue")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--views", type=Path, default=Path("views.toml"), help="default %(default)s")
    parser.add_argument("--home", type=Path, default=Path(".local"), help="data and checkpoints (default %(default)s)")
    parser.add_argument("--port", type=int, default=9092, help="Kafka's port, 0 takes a free one (default %(default)s)")
    parser.add_argument("--demo", action="store_true", help="also run the spot market simulation")


def run(arguments: argparse.Namespace) -> int:
    load_views(arguments.views)
    console = Console(highlight=False)
    colours: dict[str, str] = {}

    def show(name: str, line: str) -> None:
        colour = colours.setdefault(name, _COLOURS[len(colours) % len(_COLOURS)])
        console.print(Text(f"{name:<11}", style=colour) + Text(line), soft_wrap=True)

    stop = stop_on_signals()
    broker = Broker(arguments.home / "kafka", arguments.port or None, dies_with_parent=True)
    stack = Stack(show)
    try:
        broker.start()
        show("kafka", f"answers at {broker.address}, logs to {broker.log}")
        start_services(stack, broker.address, arguments.views, arguments.home, demo=arguments.demo)
        while not stop.wait(0.2):
            ended = stack.ended()
            if ended is not None:
                raise SkylineError(f"{ended[0]} ended with code {ended[1]}: its lines above say why")
    finally:
        stack.stop_all()
        broker.stop()
    return 0
