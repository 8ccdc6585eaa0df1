"""Create the topics of every view with the right settings, and check those that are there."""

from __future__ import annotations

import argparse

from deploy.cli.target import add_broker_arguments, broker_of
from skyline.runtime.config import load_views
from skyline.runtime.topics import ensure_topics


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_broker_arguments(parser)
    parser.add_argument(
        "--replication", type=int, default=-1, metavar="N", help="copies of each topic; -1 is the broker's default"
    )


def run(arguments: argparse.Namespace) -> int:
    kafka = broker_of(arguments)
    for view in load_views(arguments.views).values():
        ensure_topics(kafka, view, replication=arguments.replication)
        print(f"{view.name}: {', '.join(view.topic(kind) for kind in view.kinds)}")
    return 0
