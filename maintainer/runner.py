"""Maintains one view while this process owns it: recover, then poll, decode, apply, commit, checkpoint.

1. poll a batch from the updates topic
2. decode it; rejects are split off
3. apply it to the engine
4. hand the output to the committer, which publishes it and the input offsets in one transaction
5. and commits, while the next batch is polled, decoded and applied
6. now and then write a checkpoint, of committed state only

A coalesced view does without the overlap of 3 and 5: its batch is whatever arrives while the last one is committed, so
that a transaction holds one batch, and nets all of it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from confluent_kafka import Consumer, TopicPartition

from maintainer.checkpoint import Checkpoints
from maintainer.checkpointing import Checkpointing
from maintainer.committer import Committer
from maintainer.config import MaintainerConfig
from maintainer.definition import fingerprint
from maintainer.pace import Pace
from maintainer.published import settled
from maintainer.recovery import committed, replay, starting_state
from maintainer.state import ViewState
from maintainer.transactions import Transactions
from skyline.runtime.drain import Drain
from skyline.runtime.metrics import Metrics
from skyline.runtime.topics import topic_id
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records

_log = logging.getLogger("maintainer.runner")
_POLL_SECONDS: Final = 0.1
_GATHER_SECONDS: Final = 0.005
"""How long a coalesced view waits for more updates before it looks whether the commit is done."""


class Runner:
    """One thread that owns the view's engine. It ends by `stop`, or by a failure that `failure` then holds."""

    def __init__(
        self, view: View, config: MaintainerConfig, group_metadata: Callable[[], Any], metrics: Metrics
    ) -> None:
        self._view, self._config, self._metrics = view, config, metrics
        self._group_metadata = group_metadata
        self._source = TopicPartition(view.topic("updates"), 0)
        self._decoder = UpdateDecoder(view)
        self._pace = Pace()
        self._stop = threading.Event()
        self.failure: BaseException | None = None
        self._committer: Committer | None = None
        self._thread = threading.Thread(target=self._run, name=f"view {view.name}", daemon=True)

    @property
    def committed(self) -> int | None:
        """Offset before which everything is committed; None until recovery is over."""
        committer = self._committer
        return None if committer is None else committer.committed

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Asks the runner to commit what it has applied and end."""
        self._stop.set()

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        try:
            self._maintain()
        except BaseException as failure:  # reported by the service, which ends the process
            self.failure = failure
        self._committer = None
        self._metrics.active.labels(self._view.name).set(0)

    def _maintain(self) -> None:
        started = time.perf_counter()
        kafka, name = self._config.kafka, f"{self._config.group}.{self._view.name}"
        transactions = Transactions(kafka, name, self._source, fingerprint(self._view), self._group_metadata)
        transactions.take_over()
        settings = kafka.client(group_id=name, isolation_level="read_committed", enable_partition_eof=True)
        # not the group's own consumer: a call on it waits until the thread that polls it lets go
        lookups = Consumer(settings)
        try:
            to = settled(self._view, lookups, settings, committed(lookups, self._source))
            checkpoints = Checkpoints(self._config.state, self._view, topic_id(kafka, self._source.topic))
            state = starting_state(self._view, lookups, self._source, checkpoints, to)
        finally:
            lookups.close()
        with Drain(settings, self._source.topic, self._source.partition, state.position) as drain:
            rest: Records | None = Records.of([])
            if to is not None:
                rest = replay(self._view, state, drain, to, self._pace, self._stop, self._metrics)
            if rest is None:
                return
            self._metrics.recovery_seconds.labels(self._view.name).set(time.perf_counter() - started)
            self._metrics.active.labels(self._view.name).set(1)
            _log.info(
                "%s: live at offset %d after %.1f s", self._view.name, state.position, time.perf_counter() - started
            )
            committer = Committer(transactions, self._metrics, self._view.name, state.position)
            checkpointing = Checkpointing(checkpoints, committer, self._metrics, self._config.checkpoint_seconds)
            self._follow(state, drain, rest, committer, checkpointing)

    def _follow(
        self, state: ViewState, drain: Drain, rest: Records, committer: Committer, checkpointing: Checkpointing
    ) -> None:
        self._committer = committer
        self._process(state, committer, rest)
        while not self._stop.is_set():
            self._process(state, committer, self._next(drain, committer))
            committer.check()
            checkpointing.when_due(state)
        committer.close()
        checkpointing.last(state)

    def _next(self, drain: Drain, committer: Committer) -> Records:
        """What has arrived; for a coalesced view, until the transaction under way is committed."""
        records = drain.poll(_POLL_SECONDS, self._pace.limit)
        if not self._view.coalesce or not len(records):
            return records
        parts = [records]
        while committer.busy and (room := self._pace.limit - sum(map(len, parts))) > 0:
            parts.append(drain.poll(_GATHER_SECONDS, room))
        committer.wait_idle()
        return Records.joined(parts)

    def _process(self, state: ViewState, committer: Committer, records: Records) -> None:
        if not len(records):
            return
        view = self._view.name
        self._metrics.batch.labels(view).observe(len(records))
        with self._metrics.decode_seconds.labels(view).time():
            batch = self._decoder.decode(records)
        with self._metrics.engine_seconds.labels(view).time():
            output = state.apply(batch)
        self._pace.made(len(output.records))
        committer.submit(output)
