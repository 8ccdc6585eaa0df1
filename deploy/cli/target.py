"""Which broker and which view a command speaks of: flags, then environment, then the local stack."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings, add_kafka_arguments, chosen_view, kafka_settings, load_views
from skyline.view import View

HOME = Path(".local")


def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("view", help="name of the view in views.toml")
    parser.add_argument("--views", type=Path, default=Path("views.toml"), help="default %(default)s")
    add_kafka_arguments(parser)


def target(arguments: argparse.Namespace) -> tuple[View, KafkaSettings]:
    """The view, and the broker: where none is named, the one that `skyline up` or `skyline kafka start` runs here."""
    view = chosen_view(load_views(arguments.views), arguments.view)
    settings = kafka_settings(arguments)
    if not arguments.bootstrap and "SKYLINE_BOOTSTRAP" not in os.environ:
        local = Broker(HOME / "kafka")
        if local.pid() is not None:
            settings = KafkaSettings(local.address, settings.extra)
    return view, settings
