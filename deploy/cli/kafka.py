"""Start, stop or look at a local Kafka broker."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.cli.interrupt import UntilInterrupted
from deploy.cli.target import HOME, port
from deploy.local.broker import Broker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["start", "stop", "status"], help="status exits with 3 where no broker runs")
    parser.add_argument(
        "--home", type=Path, default=HOME / "kafka", metavar="DIR", help="data, log and pid file (default %(default)s)"
    )
    parser.add_argument("--port", type=port, default=9092, help="0 takes a free one (default %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    broker = Broker(arguments.home, arguments.port or None)
    crashed = broker.crashed()
    if crashed is not None:
        print(f"the last broker on {broker.home} (process {crashed}) ended without being stopped; its data is kept")
    return {"start": _start, "stop": _stop, "status": _status}[arguments.action](broker)


def _start(broker: Broker) -> int:
    with UntilInterrupted():
        broker.start()
        print(f"Kafka answers at {broker.address}, logs to {broker.log}")
        return 0
    return 130


def _stop(broker: Broker) -> int:
    pid = broker.pid()
    broker.stop()
    print(f"stopped the broker of {broker.home} (process {pid})" if pid else f"no broker runs on {broker.home}")
    return 0


def _status(broker: Broker) -> int:
    pid = broker.pid()
    if pid is None:
        print(f"no broker runs on {broker.home}")
        return 3
    print(f"Kafka runs at {broker.address} (process {pid}), logs to {broker.log}")
    return 0
