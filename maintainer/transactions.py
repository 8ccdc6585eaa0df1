"""Publishes outputs in Kafka transactions, together with the input offsets that they stand for.

Two transactional ids take turns: the coordinator refuses a new transaction of an id for some 20 ms after a commit,
while it still writes that commit's markers. One transaction is begun only after the one before is committed, so the
order on the topics is the order of the updates; and taking over a view fences both ids.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from maintainer.metadata import write_metadata
from maintainer.output import Out, Output
from skyline.errors import SkylineError
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import LARGEST_RECORD

_log = logging.getLogger("maintainer.transactions")
_TURNS: Final = 2
_INIT_SECONDS: Final = 60.0
_CALL_SECONDS: Final = 30.0
_PATIENCE_SECONDS: Final = 45.0
"""After its time-out the coordinator has given a transaction up: a client that still hopes is better restarted."""

_PAUSE_SECONDS: Final = 0.05
"""Between attempts: the group needs a moment to tell its new generation, the broker to come back."""
_TRANSACTION_TIMEOUT_MS: Final = 30_000
_GROUP_MOVED: Final = frozenset(
    {KafkaError.ILLEGAL_GENERATION, KafkaError.UNKNOWN_MEMBER_ID, KafkaError.REBALANCE_IN_PROGRESS}
)
"""What an abort mends: the same records go with the group's next generation. After a record that could not be written
librdkafka's producer no longer gets anything through, so that a new process is the shorter way."""


class Fenced(SkylineError):
    """Another process has taken over the view: this one must not publish any more."""


class PublishFailed(SkylineError):
    """A transaction could not be committed."""


class Transactions:
    """The producers of one view. Used from one thread."""

    def __init__(
        self,
        kafka: KafkaSettings,
        name: str,
        source: TopicPartition,
        fingerprint: str,
        group_metadata: Callable[[], Any],
    ) -> None:
        self._source, self._fingerprint = source, fingerprint
        self._group_metadata = group_metadata
        self._turn = 0
        self.retries = 0
        """Transactions that had to be sent again."""
        self._producers = [
            Producer(
                kafka.client(
                    transactional_id=f"{name}.{turn}",
                    transaction_timeout_ms=_TRANSACTION_TIMEOUT_MS,
                    linger_ms=1,
                    compression_type="lz4",
                    message_max_bytes=LARGEST_RECORD,
                    queue_buffering_max_messages=2_000_000,
                    queue_buffering_max_kbytes=1_048_576,
                )
            )
            for turn in range(_TURNS)
        ]

    def take_over(self) -> None:
        """Fences whoever published before, and settles what they left open."""
        for producer in self._producers:
            _insisted(partial(producer.init_transactions, _INIT_SECONDS))

    def commit(self, output: Output) -> None:
        """Publishes one output exactly once, or raises. Steps:

        1. begin a transaction on the producer whose turn it is
        2. produce every record
        3. add the input offset, with the number of the last change and the view's fingerprint as its metadata
        4. commit; where the group has moved on meanwhile, abort and begin again
        """
        producer = self._producers[self._turn]
        self._turn = (self._turn + 1) % _TURNS
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self._attempt(producer, output)
                return
            except KafkaException as error:
                self._abort(producer, error)
                if time.monotonic() > deadline:
                    why = f"{error.args[0].str()} ({error.args[0].name()})"
                    raise PublishFailed(f"transactions were aborted for {_PATIENCE_SECONDS:.0f} s: {why}") from None

    def _attempt(self, producer: Producer, output: Output) -> None:
        producer.begin_transaction()
        for record in output.records:
            self._produce(producer, record)
        position = TopicPartition(
            self._source.topic,
            self._source.partition,
            output.position,
            metadata=write_metadata(output.seq, self._fingerprint),
        )
        _insisted(lambda: producer.send_offsets_to_transaction([position], self._group_metadata(), _CALL_SECONDS))
        _insisted(partial(producer.commit_transaction, _CALL_SECONDS))

    def _produce(self, producer: Producer, record: Out) -> None:
        while True:
            try:
                producer.produce(
                    record.topic, record.value, record.key, 0, timestamp=record.timestamp, headers=record.headers
                )
                return
            except BufferError:
                producer.poll(0.05)

    def _abort(self, producer: Producer, error: KafkaException) -> None:
        problem = error.args[0]
        if problem.fatal() or not problem.txn_requires_abort() or problem.code() not in _GROUP_MOVED:
            raise _final(problem) from None
        self.retries += 1
        _log.warning("transaction aborted and sent again: %s", problem.str())
        _insisted(partial(producer.abort_transaction, _CALL_SECONDS))
        time.sleep(_PAUSE_SECONDS)


def _insisted(call: Callable[[], Any]) -> None:
    """Calls again while Kafka says that the same call may still succeed."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            call()
            return
        except KafkaException as error:
            problem = error.args[0]
            if problem.fatal():
                raise _final(problem) from None
            if not problem.retriable():
                raise
            if time.monotonic() > deadline:
                why = f"Kafka asked to try again for {_PATIENCE_SECONDS:.0f} s: {problem.str()}"
                raise PublishFailed(why) from None
            _log.warning("Kafka asks to try again: %s", problem.str())
            time.sleep(_PAUSE_SECONDS)


def _final(problem: Any) -> SkylineError:
    if problem.name() in ("_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "FENCED_INSTANCE_ID"):
        return Fenced("another process has taken over this view: this one ends")
    return PublishFailed(f"Kafka refuses to go on: {problem.str()} ({problem.name()})")
