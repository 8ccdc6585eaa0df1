"""Which broker and which view a command speaks of: flags, then environment, then the local stack."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings, add_kafka_arguments, chosen_view, kafka_settings, load_views
from skyline.view import View

HOME: Final = Path(".local")


def add_views_argument(parser: argparse.ArgumentParser) -> None:
    """--views FILE."""
    views = Path(os.environ.get("SKYLINE_VIEWS") or "views.toml")
    parser.add_argument(
        "--views",
        type=Path,
        default=views,
        metavar="FILE",
        help="defines the views (SKYLINE_VIEWS; default %(default)s)",
    )


def add_broker_arguments(parser: argparse.ArgumentParser) -> None:
    """--views FILE, --bootstrap and --kafka, and where the broker is looked for."""
    add_views_argument(parser)
    add_kafka_arguments(parser)
    parser.epilog = "Without --bootstrap, the broker is the one that `skyline up` or `skyline kafka start` runs here."


def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("view", help="name of a view that FILE defines, such as spot")
    add_broker_arguments(parser)


def port(text: str) -> int:
    """For argparse: a number that a server can listen on, or 0 for a free one."""
    number = int(text)
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"{number} is no port: 0 to 65535")
    return number


def target(arguments: argparse.Namespace) -> tuple[View, KafkaSettings]:
    """The view and the broker that the flags mean."""
    return chosen_view(load_views(arguments.views), arguments.view), broker_of(arguments)


def broker_of(arguments: argparse.Namespace) -> KafkaSettings:
    """The broker that is named; where none is, the one that `skyline up` or `skyline kafka start` runs here."""
    settings = kafka_settings(arguments)
    if not arguments.bootstrap and "SKYLINE_BOOTSTRAP" not in os.environ:
        local = Broker(HOME / "kafka")
        if local.pid() is not None:
            return KafkaSettings(local.address, settings.extra)
    return settings
