"""One view's place in its consumer group: maintains the view while the group assigns it, stands by otherwise."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from maintainer.config import MaintainerConfig
from maintainer.runner import Runner
from skyline.errors import SkylineError
from skyline.runtime.metrics import Metrics
from skyline.view import View

_log = logging.getLogger("maintainer.service")
_POLL_SECONDS: Final = 0.1
_LAG_SECONDS: Final = 2.0
_CALL_SECONDS: Final = 5.0
_HOPELESS: Final = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.INVALID_SESSION_TIMEOUT,
        KafkaError.INCONSISTENT_GROUP_PROTOCOL,
    }
)
"""What a group answers again and again, until somebody changes a setting."""


class ViewService:
    """One thread per view. The group's consumer only holds the assignment: records are read by the runner's drain."""

    def __init__(self, view: View, config: MaintainerConfig, metrics: Metrics, stop: threading.Event) -> None:
        self.view = view
        self._config, self._metrics, self._stop = config, metrics, stop
        self._runner: Runner | None = None
        self._lag_checked = 0.0
        self._metadata: Any = None
        """The group's generation and this member's id; commits carry them, so that the group can fence them."""
        self.failure: BaseException | None = None
        self._polled = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"group {view.name}")

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def alive(self) -> str | None:
        """What is wrong, if anything: for /healthz."""
        if self.failure is not None:
            return f"{self.view.name}: {self.failure}"
        silent = time.monotonic() - self._polled
        return f"{self.view.name}: silent for {silent:.0f} s" if silent > 60 else None

    def ready(self) -> str | None:
        """What is missing, if anything: for /readyz. A standby is ready."""
        runner = self._runner  # asked from another thread than the one that ends it
        if runner is not None and runner.committed is None:
            return f"{self.view.name}: recovering"
        return self.alive()

    def _run(self) -> None:
        try:
            self._serve()
        except BaseException as failure:  # the main thread ends the process
            self.failure = failure
            # at once: until the other views have ended, somebody may have killed this process for its bad health
            told = (failure, None) if isinstance(failure, SkylineError) else (repr(failure), failure)
            _log.error("%s: %s", self.view.name, told[0], exc_info=told[1])
            self._stop.set()

    def _serve(self) -> None:
        consumer = Consumer(
            self._config.kafka.client(
                group_id=f"{self._config.group}.{self.view.name}",
                partition_assignment_strategy="cooperative-sticky",
                session_timeout_ms=self._config.session_timeout_ms,
                heartbeat_interval_ms=max(300, self._config.session_timeout_ms // 6),
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                isolation_level="read_committed",
            )
        )
        self._metrics.stand_by(self.view.name)
        consumer.subscribe(
            [self.view.topic("updates")], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )
        try:
            while not self._stop.is_set():
                self._poll(consumer)
            self._end_runner()
        finally:
            consumer.close()

    def _poll(self, consumer: Consumer) -> None:
        message = consumer.poll(_POLL_SECONDS)
        self._polled = time.monotonic()
        self._metadata = consumer.consumer_group_metadata()
        if message is not None and message.error() is not None:
            self._notice(message.error())
        if self._runner is not None:
            if self._runner.failure is not None:
                raise self._runner.failure
            self._measure_lag(consumer, self._runner.committed)

    def _notice(self, error: KafkaError) -> None:
        if error.fatal() or error.code() in _HOPELESS:
            raise SkylineError(f"the group of view {self.view.name!r} cannot be joined: {error.str()}")
        _log.info("%s: %s", self.view.name, error.str())

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        if not partitions:
            return
        if [place.partition for place in partitions] != [0]:
            raise SkylineError(
                f"topic {self.view.topic('updates')} was given more partitions: a view needs exactly 1, because its "
                f"skyline is global and one engine must see every update"
            )
        consumer.pause(partitions)
        _log.info("%s: this process maintains the view", self.view.name)
        self._metadata = consumer.consumer_group_metadata()
        self._runner = Runner(self.view, self._config, lambda: self._metadata, self._metrics)
        self._runner.start()

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._metadata = consumer.consumer_group_metadata()  # of the new generation: the last commit must carry it
        self._end_runner()
        consumer.incremental_unassign(partitions)

    def _lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """The group has moved on: another process may own the view. Crash-only: this one ends and comes back clean."""
        consumer.incremental_unassign(partitions)
        raise SkylineError(f"the group took view {self.view.name!r} away, after a silence or a broken connection")

    def _end_runner(self) -> None:
        if self._runner is None:
            return
        self._runner.stop()
        self._runner.join()
        failure, self._runner = self._runner.failure, None
        if failure is not None:
            raise failure
        _log.info("%s: given up in good order", self.view.name)

    def _measure_lag(self, consumer: Consumer, committed: int | None) -> None:
        if committed is None or time.monotonic() - self._lag_checked < _LAG_SECONDS:
            return
        self._lag_checked = time.monotonic()
        try:
            _, high = consumer.get_watermark_offsets(
                TopicPartition(self.view.topic("updates"), 0), timeout=_CALL_SECONDS
            )
        except KafkaException as error:
            _log.info("%s: lag unknown: %s", self.view.name, error.args[0].str())
            return
        self._metrics.lag.labels(self.view.name).set(max(0, high - committed))
