"""The few functions of librdkafka that Python's client does not offer in bulk, from the library it ships with.

Only public, stable C functions are called. confluent-kafka stays the client for everything else.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from confluent_kafka import cimpl

from skyline.errors import SkylineError

PARTITION_EOF: Final = -191
ALL_BROKERS_DOWN: Final = -187
TRANSPORT: Final = -195
AUTO_OFFSET_RESET: Final = -140
_CONSUMER: Final = 1
_OK: Final = 0
_ERROR_SIZE: Final = 512

_SIGNATURES: Final = {
    "rd_kafka_conf_new": (ctypes.c_void_p, []),
    "rd_kafka_conf_set": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t],
    ),
    "rd_kafka_new": (ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
    "rd_kafka_topic_partition_list_new": (ctypes.c_void_p, [ctypes.c_int]),
    "rd_kafka_topic_partition_list_add": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32]),
    "rd_kafka_topic_partition_list_set_offset": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int64],
    ),
    "rd_kafka_topic_partition_list_destroy": (None, [ctypes.c_void_p]),
    "rd_kafka_assign": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
    "rd_kafka_queue_get_consumer": (ctypes.c_void_p, [ctypes.c_void_p]),
    "rd_kafka_queue_destroy": (None, [ctypes.c_void_p]),
    "rd_kafka_consume_batch_queue": (
        ctypes.c_ssize_t,
        [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t],
    ),
    "rd_kafka_consumer_close": (ctypes.c_int, [ctypes.c_void_p]),
    "rd_kafka_destroy": (None, [ctypes.c_void_p]),
    "rd_kafka_err2str": (ctypes.c_char_p, [ctypes.c_int]),
    "rd_kafka_message_timestamp": (ctypes.c_int64, [ctypes.c_void_p, ctypes.c_void_p]),
    "rd_kafka_message_destroy": (None, [ctypes.c_void_p]),
}  # fmt: skip


class KafkaUnusable(SkylineError):
    """librdkafka refused a configuration or a call; the message is its own."""


@cache
def library() -> ctypes.CDLL:
    """The librdkafka that confluent_kafka is linked with: its symbols are found through the module that needs them."""
    loaded = ctypes.CDLL(cimpl.__file__)
    for name, (result, arguments) in _SIGNATURES.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise KafkaUnusable(f"confluent-kafka's librdkafka has no {name}: install it from a wheel") from None
        function.restype, function.argtypes = result, arguments
    return loaded


def address_of(function: str) -> int:
    """Where a function of the library lies, for compiled code to call."""
    return ctypes.cast(getattr(library(), function), ctypes.c_void_p).value or 0


def error_text(code: int) -> str:
    text: bytes = library().rd_kafka_err2str(code)
    return text.decode()


def new_consumer(settings: Mapping[str, Any]) -> int:
    """A consumer handle with these settings; the caller destroys it."""
    lib = library()
    conf = lib.rd_kafka_conf_new()
    message = ctypes.create_string_buffer(_ERROR_SIZE)
    for name, value in settings.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if lib.rd_kafka_conf_set(conf, name.encode(), text.encode(), message, _ERROR_SIZE) != _OK:
            raise KafkaUnusable(f"Kafka setting {name}: {message.value.decode()}")
    handle: int | None = lib.rd_kafka_new(_CONSUMER, conf, message, _ERROR_SIZE)
    if handle is None:
        raise KafkaUnusable(f"no consumer: {message.value.decode()}")
    return handle


def assign(handle: int, topic: str, partition: int, offset: int) -> None:
    """Makes the consumer read this partition from this offset."""
    lib = library()
    partitions = lib.rd_kafka_topic_partition_list_new(1)
    lib.rd_kafka_topic_partition_list_add(partitions, topic.encode(), partition)
    lib.rd_kafka_topic_partition_list_set_offset(partitions, topic.encode(), partition, offset)
    code = lib.rd_kafka_assign(handle, partitions)
    lib.rd_kafka_topic_partition_list_destroy(partitions)
    if code != _OK:
        raise KafkaUnusable(f"cannot read {topic}[{partition}]: {error_text(code)}")
