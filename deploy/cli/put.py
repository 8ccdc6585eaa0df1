"""Publish one update, and say where it went."""

from __future__ import annotations

import argparse
from typing import Any, Final

import orjson
from confluent_kafka import Producer

from deploy.cli.target import add_target_arguments, target
from skyline.errors import InvalidInput, SkylineError
from skyline.wire.rejects import Rejected
from skyline.wire.updates import read_update

_SECONDS: Final = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_arguments(parser)
    parser.add_argument("key", help="the object's id; '' where a window's element has none")
    parser.add_argument(
        "fields", nargs="*", metavar="NAME=VALUE", help="such as price=80 city=Paris; none with --delete"
    )
    parser.add_argument("--delete", action="store_true", help="delete the object")
    parser.add_argument("--op", choices=["add", "multiply", "average", "patch"], help="modify the object that is there")


def run(arguments: argparse.Namespace) -> int:
    view, kafka = target(arguments)
    value = None if arguments.delete else orjson.dumps(_fields(arguments))
    checked = read_update(view, arguments.key.encode(), value)
    if isinstance(checked, Rejected):
        raise InvalidInput(f"not sent: {checked.message}")
    reports: list[Any] = []
    producer = Producer(kafka.client(acks="all", message_timeout_ms=int(_SECONDS * 1000)))
    producer.produce(
        view.topic("updates"), value, arguments.key, on_delivery=lambda error, message: reports.append((error, message))
    )
    producer.flush(_SECONDS)
    if not reports:
        raise SkylineError(f"{kafka.bootstrap} did not acknowledge the update within {_SECONDS:.0f} s")
    error, message = reports[0]
    if error is not None:
        raise SkylineError(f"not sent to {kafka.bootstrap}: {error}")
    print(f"{view.topic('updates')} offset {message.offset()}")
    return 0


def _fields(arguments: argparse.Namespace) -> dict[str, Any]:
    fields: dict[str, Any] = {"$op": arguments.op} if arguments.op else {}
    for pair in arguments.fields:
        name, separator, text = pair.partition("=")
        if not separator or not name:
            raise InvalidInput(f"fields are NAME=VALUE, such as price=80, got {pair!r}")
        try:
            fields[name] = orjson.loads(text)
        except orjson.JSONDecodeError:
            fields[name] = text
    return fields
