"""One view, followed: its objects, its history, its feed, and how far behind the log they are."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
from typing import Any, Final

from query.answers import PlainAnswers
from query.config import QueryConfig
from query.encode import Encoder
from query.feed import Feed
from query.follower import Follower
from query.history import History
from query.problems import Problem
from query.question import Reader
from query.table import State
from query.tables import table_for
from skyline.runtime.metrics import Metrics
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records

_KEEP_MORE_SECONDS: Final = 5.0
_MAINTAIN_SECONDS: Final = 0.05
_MAINTAIN_NICE: Final = 10
_WAIT_STEP_SECONDS: Final = 0.002


class FollowedView:
    """Two followers and a thread that keeps the index in shape."""

    def __init__(self, view: View, config: QueryConfig, metrics: Metrics, stop: threading.Event) -> None:
        self.view = view
        self._metrics, self._stop = metrics, stop
        self.table = table_for(view, keep=config.time_limit + _KEEP_MORE_SECONDS)
        self.history = History(config.history)
        self.feed = Feed(self.history, config.stream_buffer)
        self.encoder = Encoder(view, self.history.seq_before if view.coalesce else None)
        self.reader = Reader(view)
        self.plain = PlainAnswers(self.table, self.encoder)
        self._decoder = UpdateDecoder(view)
        self.updates = Follower(config.kafka, view.topic("updates"), self._apply, self._load, stop, whole=True)
        self.changes = Follower(config.kafka, view.topic("changes"), self._record, lambda: None, stop)
        self._maintainer = threading.Thread(target=self._maintain, name=f"index {view.name}", daemon=True)

    def start(self) -> None:
        for thread in (self.updates, self.changes, self._maintainer):
            thread.start()

    def join(self) -> None:
        for thread in (self.updates, self.changes, self._maintainer):
            thread.join()

    @property
    def state(self) -> State:
        """What answers speak for now. Refuses while the start is under way."""
        state = self.table.state
        if state is None or not self.changes.live:
            raise Problem(
                503, "starting", "The view is still being read",
                f"{self.view.name}: {self.updates.position - self.updates.begin} updates read so far; see /readyz",
                headers={"Retry-After": "1"},
            )  # fmt: skip
        return state

    def seq(self, state: State) -> int:
        """Number of the last change up to a state: counted, or where changes are coalesced, as published."""
        return self.history.seq_before(state.stamp.offset) if self.view.coalesce else state.stamp.seq

    def intervals(self, key: str, state: State, most: int) -> tuple[int, list[dict[str, Any]]]:
        """When an object was a member up to a state, and the last change that this rests on.

        That is the state's own, unless the maintainer is behind.
        """
        upto = min(self.seq(state), self.history.last)
        return upto, [interval.fields() for interval in self.history.intervals(key, most, upto)]

    async def reach(self, offset: int, seconds: float) -> State:
        """The state once the update at `offset` is in; waits for it, but not for ever."""
        end = time.monotonic() + seconds
        while (state := self.state).stamp.offset < offset:
            if time.monotonic() >= end:
                raise Problem(
                    412, "not-reached", "The offset was not reached in time",
                    f"min_offset: update {offset} was not there after {seconds:g} s, the last one is "
                    f"{state.stamp.offset}",
                    parameter="min_offset", allowed="the offset of an update that was sent",
                    example=f"min_offset={max(0, state.stamp.offset)}",
                )  # fmt: skip
            await asyncio.sleep(_WAIT_STEP_SECONDS)
        return state

    async def published(self, state: State, at: int, seconds: float) -> None:
        """Waits until all changes up to event time `at` have been published and read."""
        end = time.monotonic() + seconds
        while self.history.last < state.stamp.seq and at >= (self.history.newest or at) and not self.view.coalesce:
            if time.monotonic() >= end:
                raise Problem(
                    503, "behind", "The changes are behind the updates",
                    f"as_of: change {state.stamp.seq} has not been published after {seconds:g} s, the last one is "
                    f"{self.history.last}: does the maintainer run?", headers={"Retry-After": "5"},
                )  # fmt: skip
            await asyncio.sleep(_WAIT_STEP_SECONDS)

    def trouble(self) -> str | None:
        """What is wrong, if anything: for /healthz."""
        for follower in (self.updates, self.changes):
            if follower.failure is not None:
                return f"{follower.topic}: {follower.failure}"
        return None

    def unready(self) -> str | None:
        """What is missing, if anything: for /readyz."""
        for follower in (self.updates, self.changes):
            if not follower.live:
                return f"{follower.topic}: catching up, at offset {follower.position} of {follower.end}"
        return self.trouble()

    def summary(self) -> dict[str, Any]:
        """The definition, sizes and lag, for /views."""
        view, state = self.view, self.table.state
        window = view.window
        return {
            "view": view.name,
            "ready": self.unready() is None,
            "dimensions": dict(zip(view.dimensions.names, view.dimensions.directions, strict=True)),
            "group_by": list(view.group_by),
            "carry": list(view.carry),
            "window": None if window is None else {"size": window.size, "span": window.span},
            **({"offset": -1, "clock": None, "seq": 0} if state is None else state.stamp.fields()),
            "objects": 0 if state is None else state.objects,
            "waiting": 0 if state is None else state.waiting,
            "members": 0 if state is None else state.members,
            "groups": len(self.table.labels) if view.group_by else None,
            "lag": {"updates": self.updates.lag, "changes": self.changes.lag},
            "begins": self.updates.begin,
            "history": {
                "first": self.history.first, "last": self.history.last, "oldest": self.history.oldest,
                "whole": self.history.whole,
            },
            "readers": self.feed.streams,
        }  # fmt: skip

    def measure(self) -> None:
        """Sets the gauges."""
        state = self.table.state
        if state is not None:
            self._metrics.query_offset.labels(self.view.name).set(state.stamp.offset)
            self._metrics.query_objects.labels(self.view.name).set(state.objects)
        self._metrics.query_lag.labels(self.view.name).set(self.updates.lag)
        self._metrics.readers.labels(self.view.name).set(self.feed.streams)

    def _apply(self, records: Records) -> None:
        self.table.apply(self._decoder.decode(records))

    def _load(self) -> None:
        self.table.load()
        # the collector would walk through the tables of all objects every few seconds, and hold up every thread
        gc.collect()
        gc.freeze()

    def _record(self, records: Records) -> None:
        self.feed.offer(self.history.append(records))

    def _maintain(self) -> None:
        # requests come first: a merge of a million objects keeps a core busy for a second, and nobody waits for it
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _MAINTAIN_NICE)
        try:
            while not self._stop.wait(_MAINTAIN_SECONDS):
                began = time.perf_counter()
                if self.table.maintain():
                    self._metrics.index_seconds.labels(self.view.name).observe(time.perf_counter() - began)
        except BaseException as failure:  # reported and ended as where the updates cannot be followed
            self.updates.failure = failure
            self._stop.set()
