"""Start, stop or look at a local Kafka broker."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.local.broker import Broker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["start", "stop", "status"])
    parser.add_argument(
        "--home", type=Path, default=Path(".local/kafka"), help="data, log and pid file (default %(default)s)"
    )
    parser.add_argument("--port", type=int, default=9092, help="0 takes a free one (default %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    broker = Broker(arguments.home, arguments.port or None)
    if arguments.action == "start":
        broker.start()
        print(f"Kafka answers at {broker.address}, logs to {broker.log}")
        return 0
    pid = broker.pid()
    if pid is None:
        print(f"no broker runs on {broker.home}")
        return 0 if arguments.action == "stop" else 3
    if arguments.action == "stop":
        broker.stop()
        print(f"stopped the broker that ran on {broker.home} (process {pid})")
    else:
        print(f"Kafka runs at {broker.address} (process {pid}), logs to {broker.log}")
    return 0
