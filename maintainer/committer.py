"""Commits outputs in the background, so that the next batch is read and applied while this one is committed."""

from __future__ import annotations

import threading
import time
from typing import Final

from maintainer.output import Output
from maintainer.transactions import Transactions
from skyline.runtime.metrics import Metrics

QUIET_SECONDS: Final = 1.0
"""How long offsets of updates without any change may wait for a transaction."""

_MOST_WAITING: Final = 200_000
"""Records to publish beyond which the engine waits for the commit: it bounds memory, and what a crash repeats."""

_MOST_WAITING_BYTES: Final = 64 * 2**20
"""The same for their size: records of a megabyte each would fill the memory, and one transaction could not publish
them within its time."""


class Committer:
    """One thread that takes whatever has been submitted since its last commit and publishes it in one transaction."""

    def __init__(self, transactions: Transactions, metrics: Metrics, view: str, position: int) -> None:
        self._transactions = transactions
        self._metrics, self._view = metrics, view
        self._condition = threading.Condition()
        self._waiting: Output | None = None
        self._waiting_bytes = 0
        self._publishing = False
        self._committed = position
        self._closing = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"commit {view}", daemon=True)
        self._thread.start()

    @property
    def committed(self) -> int:
        """Offset before which everything is committed."""
        return self._committed

    @property
    def busy(self) -> bool:
        """Whether records are being published, or wait for it."""
        return self._failure is None and (self._publishing or _has_records(self._waiting))

    @property
    def full(self) -> bool:
        """Whether so much waits that `submit` would wait too."""
        waiting = self._waiting
        return waiting is not None and (
            len(waiting.records) > _MOST_WAITING or self._waiting_bytes > _MOST_WAITING_BYTES
        )

    def check(self) -> None:
        """Raises what ended the thread, if anything: with no batch to submit nobody else would notice."""
        if self._failure is not None:
            raise self._failure

    def submit(self, output: Output) -> None:
        """Hands over the output of the next batch; waits while too much is waiting already."""
        size = sum(len(record.value or b"") for record in output.records)
        with self._condition:
            self._condition.wait_for(lambda: self._failure is not None or not self.full)
            self.check()
            self._waiting_bytes += size
            if self._waiting is None:
                self._waiting = output
            else:
                self._waiting.extend(output)
            self._condition.notify_all()

    def wait_committed(self, position: int) -> bool:
        """Whether everything before `position` is committed: waits until it is, or never will be."""
        with self._condition:
            self._condition.wait_for(lambda: self._failure is not None or self._committed >= position)
            return self._committed >= position

    def wait_idle(self) -> None:
        """Waits until it is no longer busy."""
        with self._condition:
            self._condition.wait_for(lambda: not self.busy)

    def close(self) -> None:
        """Commits what was submitted and ends the thread."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        self._thread.join()
        self.check()

    def _run(self) -> None:
        try:
            while (output := self._next()) is not None:
                self._commit(output)
        except BaseException as failure:  # handed to the thread that submits, which ends the process
            with self._condition:
                self._failure = failure
                self._condition.notify_all()

    def _next(self) -> Output | None:
        """What to commit now: at once where there are records, after a while where there are only offsets."""
        with self._condition:
            self._condition.wait_for(lambda: self._waiting is not None or self._closing)
            self._condition.wait_for(lambda: self._closing or _has_records(self._waiting), QUIET_SECONDS)
            output, self._waiting, self._waiting_bytes = self._waiting, None, 0
            self._publishing = _has_records(output)
            self._condition.notify_all()
            return output

    def _commit(self, output: Output) -> None:
        started = time.perf_counter()
        retries = self._transactions.retries
        self._transactions.commit(output)
        self._observe(output, time.perf_counter() - started, self._transactions.retries - retries)
        with self._condition:
            self._committed, self._publishing = output.position, False
            self._condition.notify_all()

    def _observe(self, output: Output, seconds: float, retries: int) -> None:
        metrics, view = self._metrics, self._view
        metrics.transaction_seconds.labels(view).observe(seconds)
        metrics.transaction_retries.labels(view).inc(retries)
        metrics.updates.labels(view).inc(output.updates)
        for (op, reason), count in output.changes.items():
            metrics.changes.labels(view, op, reason).inc(count)
        for reason, count in output.rejected.items():
            metrics.rejected.labels(view, reason).inc(count)
        metrics.members.labels(view).set(output.members)
        metrics.objects.labels(view).set(output.objects)
        metrics.seq.labels(view).set(output.seq)
        metrics.clock.labels(view).set(output.clock / 1000)
        metrics.event_lag.labels(view).set(time.time() - output.clock / 1000)


def _has_records(output: Output | None) -> bool:
    return output is not None and bool(output.records)
