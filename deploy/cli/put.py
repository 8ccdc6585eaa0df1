"""Publish one update, and say where it went."""

from __future__ import annotations

import argparse
import time
from typing import Any, Final

import orjson
from confluent_kafka import KafkaError, KafkaException, Producer

from deploy.cli.reading import no_broker
from deploy.cli.target import add_target_arguments, target
from skyline.errors import InvalidInput, SkylineError
from skyline.runtime.config import KafkaSettings
from skyline.view import View
from skyline.wire.fields import instant
from skyline.wire.rejects import Rejected
from skyline.wire.updates import INTERVAL, MODIFICATIONS, OP, TICK, read_update

_SECONDS: Final = 10.0
_PARTITION: Final = 0
_UNKNOWN_MS: Final = 1000
"""A topic that is unknown for this long is not there: librdkafka would hope for 30 s that somebody creates it."""
_NO_TOPIC: Final = (KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_arguments(parser)
    parser.add_argument(
        "words", nargs="*", metavar="KEY NAME=VALUE",
        help=f"the object's id and its fields, such as h7 price=80 city=Paris; elements of a window need no id; with "
        f"--delete no fields; {TICK} only passes time",
    )  # fmt: skip
    parser.add_argument("--delete", action="store_true", help="delete the object")
    parser.add_argument("--op", choices=MODIFICATIONS, help="modify the object that is there")
    parser.add_argument("--at", help="event time, milliseconds or ISO 8601 (default: now)")


def run(arguments: argparse.Namespace) -> int:
    view, kafka = target(arguments)
    key, fields = _words(view, arguments.words)
    if arguments.delete and (fields or arguments.op):
        raise InvalidInput("--delete takes a key and nothing else")
    if arguments.op:
        fields = {OP: arguments.op, **fields}
    value = None if arguments.delete or key == TICK else orjson.dumps(fields)
    checked = read_update(view, None if key is None else key.encode(), value)
    if isinstance(checked, Rejected):
        raise InvalidInput(f"not sent: {checked.message}")
    at = _event_time(arguments.at) if arguments.at else int(time.time() * 1000)
    print(f"{view.topic('updates')} offset {_publish(kafka, view, key, value, at)}")
    return 0


def _words(view: View, words: list[str]) -> tuple[str | None, dict[str, Any]]:
    """(key, fields): the key is the first word, unless that is a field of the view."""
    names = (*view.dimensions.names, *view.group_by, *view.carry)
    known = (*names, *INTERVAL, OP)
    key = words[0] if words and words[0].partition("=")[0] not in names else None
    fields: dict[str, Any] = {}
    for pair in words[key is not None :]:
        name, separator, text = pair.partition("=")
        if not separator or not name:
            raise InvalidInput(f"fields are NAME=VALUE, such as price=80, got {pair!r}")
        if name not in known:  # a record may have fields that the view ignores; whoever types one has mistyped it
            raise InvalidInput(f"view {view.name!r} has no field {name!r}; its fields are: {', '.join(known)}")
        try:
            fields[name] = orjson.loads(text)
        except orjson.JSONDecodeError:
            fields[name] = text
    return key or None, fields


def _event_time(text: str) -> int:
    moment = instant("--at", int(text) if text.isdecimal() else text)
    if isinstance(moment, Rejected):
        raise InvalidInput(moment.message)
    if moment <= 0:
        raise InvalidInput(f"--at {text} is not after 1970, where Kafka's time begins")
    return moment


def _publish(kafka: KafkaSettings, view: View, key: str | None, value: bytes | None, at: int) -> int:
    """The offset, once the broker has acknowledged."""
    reports: list[tuple[KafkaError | None, Any]] = []
    settings = kafka.client(
        acks="all", message_timeout_ms=int(_SECONDS * 1000), topic_metadata_propagation_max_ms=_UNKNOWN_MS
    )
    try:
        producer = Producer({**settings, "log_level": 0})  # what goes wrong is said once, below
    except KafkaException as error:
        raise InvalidInput(f"no producer can be made with these settings: {error.args[0].str()}") from None
    producer.produce(
        view.topic("updates"), value, key, _PARTITION, timestamp=at,
        on_delivery=lambda error, message: reports.append((error, message)),
    )  # fmt: skip
    producer.flush(_SECONDS + 1)
    if not reports:
        raise SkylineError(f"{kafka.bootstrap} did not acknowledge the update within {_SECONDS:.0f} s")
    failure, message = reports[0]
    if failure is not None and failure.code() == KafkaError._MSG_TIMED_OUT:
        raise SkylineError(f"not sent: {no_broker(kafka)}")
    if failure is not None:
        hint = " (the maintainer creates it when it starts)" if failure.code() in _NO_TOPIC else ""
        raise SkylineError(f"not written to {view.topic('updates')} at {kafka.bootstrap}: {failure.str()}{hint}")
    return int(message.offset())
