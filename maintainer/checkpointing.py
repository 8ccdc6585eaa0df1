"""When checkpoints are written: now and then, in the background, of committed state only."""

from __future__ import annotations

import logging
import threading
import time

from maintainer.checkpoint import Checkpoints
from maintainer.checkpoint_file import State
from maintainer.committer import Committer
from maintainer.state import ViewState
from skyline.runtime.metrics import Metrics

_log = logging.getLogger("maintainer.checkpointing")


class Checkpointing:
    """Copies the state in the thread that owns it, and writes the copy in another once all of it is committed."""

    def __init__(self, checkpoints: Checkpoints, committer: Committer, metrics: Metrics, interval: float) -> None:
        """`interval` seconds between checkpoints; 0 writes none but the last."""
        self._checkpoints, self._committer = checkpoints, committer
        self._metrics, self._view = metrics, checkpoints.view.name
        self._interval = interval
        self._started = time.monotonic()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    def when_due(self, state: ViewState) -> None:
        """Begins a checkpoint if it is time and none is under way. O(state) if so. Raises what the last one raised."""
        self._raise_failure()
        busy = self._thread is not None and self._thread.is_alive()
        if self._interval and not busy and time.monotonic() - self._started >= self._interval:
            self._begin(state)

    def last(self, state: ViewState) -> None:
        """Writes a checkpoint and returns when it is there."""
        self._join()
        self._begin(state)
        self._join()
        self._raise_failure()

    def _begin(self, state: ViewState) -> None:
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._run, args=(state.dump(), state.position), daemon=True)
        self._thread.start()

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self, copy: State, position: int) -> None:
        try:
            if self._committer.wait_committed(position):
                self._write(copy)
        except BaseException as failure:  # raised again in the thread that owns the state, which ends the process
            self._failure = failure

    def _write(self, copy: State) -> None:
        started = time.perf_counter()
        try:
            size = self._checkpoints.write(copy)
        except OSError as error:
            # the log still holds everything: a full disk costs recovery time, not data
            _log.error("%s: no checkpoint was written: %s", self._view, error)
            return
        self._metrics.checkpoint_seconds.labels(self._view).observe(time.perf_counter() - started)
        self._metrics.checkpoint_bytes.labels(self._view).set(size)
        self._metrics.checkpoint_time.labels(self._view).set(time.time())
