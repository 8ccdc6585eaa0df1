"""Follows one topic from its beginning: a thread that drains it and hands on every batch."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from skyline.errors import SkylineError
from skyline.runtime.config import KafkaSettings
from skyline.runtime.drain import MAX_BATCH, Drain
from skyline.wire.records import Records

_log = logging.getLogger("query.follower")
_POLL_SECONDS: Final = 0.1
_LIVE_BATCH: Final = 2_000
"""Records of a batch once it follows, at most: requests wait for the moment in which a batch becomes visible."""

_PACE_SECONDS: Final = 0.02
"""Batches begin at least so far apart once it follows: at 20,000 updates a second, batches as small as they come would
take twice the time that fewer, larger ones do, from the requests."""

_CALL_SECONDS: Final = 30.0
_LAG_SECONDS: Final = 1.0
_GONE_SECONDS: Final = 15.0
"""A broker that starts may know no topics for a while."""

_GROUP: Final = "skyline-query"
"""No group is joined and nothing is committed; librdkafka wants a name."""


class LogTruncated(SkylineError):
    """The updates topic no longer holds what answers need."""


class TopicGone(SkylineError):
    """The topic was deleted."""


class Follower:
    """One thread. `handle` gets each batch in order; `caught_up` is called once, at the end that the start found."""

    def __init__(
        self,
        kafka: KafkaSettings,
        topic: str,
        handle: Callable[[Records], None],
        caught_up: Callable[[], None],
        stop: threading.Event,
        *,
        whole: bool = False,
    ) -> None:
        """`whole`: refuse a topic that has lost its beginning."""
        self.topic = topic
        self._whole = whole
        self._settings = kafka.client(group_id=_GROUP, isolation_level="read_committed", enable_partition_eof=True)
        self._handle, self._caught_up, self._stop = handle, caught_up, stop
        self.begin = 0
        """Offset at which the topic began."""
        self.position = 0
        self.end = 0
        """Where the topic ended when that was last looked at."""
        self.live = False
        """Whether it has caught up."""
        self._at_end = False
        self.failure: BaseException | None = None
        self.rate = 0.0
        """Records per second during the start."""
        self._thread = threading.Thread(target=self._run, name=f"follow {topic}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        try:
            self._follow()
        except BaseException as failure:
            self.fail(failure)

    def fail(self, failure: BaseException) -> None:
        """Ends the process: the main thread reports why."""
        self.failure = failure
        self._stop.set()

    def _follow(self) -> None:
        began = time.perf_counter()
        self.begin, self.end = end_points(self._settings, self.topic)
        if self._whole and self.begin > 0:
            raise LogTruncated(
                f"{self.topic} begins at offset {self.begin}: the objects before it are unknown, and answers would be "
                f"wrong; restore the topic from the archive (skyline restore), or give the view a new name"
            )
        end = self.end
        self.position = self.begin
        with Drain(self._settings, self.topic, 0, self.begin) as drain:
            while not self._stop.is_set():
                records = drain.poll(_POLL_SECONDS, _LIVE_BATCH if self.live else MAX_BATCH)
                polled = time.monotonic()
                if len(records):
                    self._handle(records)
                    self.position = drain.position
                    self._at_end = False
                self._at_end = self._at_end or drain.at_end
                # the end may lie behind a transaction's marker, which is no record
                if not self.live and (self.position >= end or self._at_end):
                    self._go_live(time.perf_counter() - began)
                if self.live and 0 < len(records) < _LIVE_BATCH:
                    self._stop.wait(polled + _PACE_SECONDS - time.monotonic())

    def _go_live(self, seconds: float) -> None:
        self._caught_up()
        self.rate = (self.position - self.begin) / max(seconds, 1e-9)
        self.live = True
        _log.info("%s: caught up at offset %d after %.1f s", self.topic, self.position, seconds)

    @property
    def lag(self) -> int:
        """Records that are not in yet; a transaction's marker at the end is none."""
        return 0 if self._at_end else max(0, self.end - self.position)


class Ends:
    """Looks up now and then where topics end. One consumer for all of them."""

    def __init__(self, kafka: KafkaSettings, followers: list[Follower], stop: threading.Event) -> None:
        self._kafka, self._followers, self._stop = kafka, followers, stop
        self._missing: dict[str, float] = {}
        """Topics that the broker does not know, and since when."""
        self._thread = threading.Thread(target=self._run, name="ends of topics", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        consumer = Consumer({**self._kafka.client(group_id=_GROUP), "log_level": 0})
        while not self._stop.wait(_LAG_SECONDS):
            for follower in self._followers:
                self._look(consumer, follower)
        consumer.close()

    def _look(self, consumer: Consumer, follower: Follower) -> None:
        topic = follower.topic
        try:
            follower.end = int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=_CALL_SECONDS)[1])
            self._missing.pop(topic, None)
        except KafkaException as error:
            if not _is_gone(consumer, topic):
                _log.info("%s: lag unknown: %s", topic, error.args[0].str())
                self._missing.pop(topic, None)
            elif time.monotonic() - self._missing.setdefault(topic, time.monotonic()) > _GONE_SECONDS:
                # its consumer would wait for ever for it to come back
                follower.fail(TopicGone(f"{topic}[0] cannot be read: the topic is gone; create it anew, or restore it"))


def _is_gone(consumer: Consumer, topic: str) -> bool:
    """Whether the cluster answers, and knows no such topic: one without a leader is there."""
    try:
        error = consumer.list_topics(topic, timeout=_CALL_SECONDS).topics[topic].error
    except KafkaException:
        return False
    return error is not None and bool(error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART)


def end_points(settings: dict[str, Any], topic: str) -> tuple[int, int]:
    """Where a topic begins and ends."""
    consumer = Consumer({**settings, "enable.partition.eof": False})
    try:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=_CALL_SECONDS)
        return int(low), int(high)
    finally:
        consumer.close()
