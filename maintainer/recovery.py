"""From a crash to the state at the committed offset: newest whole checkpoint, or the start of the log, then replay."""

from __future__ import annotations

import logging
import threading
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from maintainer.checkpoint import Checkpoints
from maintainer.definition import ViewChanged, fingerprint
from maintainer.metadata import Committed, read_committed
from maintainer.pace import Pace
from maintainer.state import ViewState, load_state, new_state
from skyline.errors import InvalidInput, SkylineError
from skyline.runtime.drain import Drain
from skyline.runtime.metrics import Metrics
from skyline.runtime.patience import patiently
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records

_log = logging.getLogger("maintainer.recovery")
_CALL_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.2


class LogTruncated(SkylineError):
    """The updates topic no longer holds what recovery needs."""


class NotDeterministic(SkylineError):
    """Replay did not give what was published: the log, the checkpoint or the code is not what it was."""


def committed(consumer: Consumer, source: TopicPartition) -> Committed | None:
    """What the group has committed, once no transaction is open any more; None before the first commit."""
    found = patiently(lambda: consumer.committed([source], timeout=_CALL_SECONDS))[0]
    if found.error is not None:
        raise SkylineError(f"the committed offset of {source.topic} cannot be read: {found.error}")
    return read_committed(found.offset, found.metadata) if found.offset >= 0 else None


def starting_state(
    view: View, consumer: Consumer, source: TopicPartition, checkpoints: Checkpoints, to: Committed | None
) -> ViewState:
    """The state to replay from. Refuses a log that does not reach back to it, rather than give a wrong skyline."""
    low, high = patiently(lambda: consumer.get_watermark_offsets(source, timeout=_CALL_SECONDS))
    if to is not None and to.position > high:
        raise LogTruncated(
            f"{source.topic} ends at offset {high}, but the group has committed {to.position}: the topic was deleted "
            f"or lost data; give the view a new name, or restore the topic"
        )
    if to is not None and to.fingerprint not in (None, fingerprint(view)):
        raise ViewChanged(view, f"offset {to.position} of {source.topic}")
    saved = saved_state(view, checkpoints, to.position if to else 0)
    state = saved or new_state(view)
    if state.position < low:
        where = f"the newest checkpoint stands at offset {state.position}" if saved else "there is no checkpoint"
        raise LogTruncated(
            f"{source.topic} begins at offset {low}, but {where}: updates in between are gone, so the skyline cannot "
            f"be known; restore a checkpoint from back-up, or give the view a new name and republish its objects"
        )
    return state


def saved_state(view: View, checkpoints: Checkpoints, limit: int) -> ViewState | None:
    """The state of the newest checkpoint that this version can read."""
    for file, saved in checkpoints.usable(limit):
        try:
            return load_state(view, saved)
        except InvalidInput as error:
            _log.warning("%s: %s; the one before, or the log, is used", file, error)
    return None


def replay(
    view: View, state: ViewState, drain: Drain, to: Committed, pace: Pace, stop: threading.Event, metrics: Metrics
) -> Records | None:
    """Applies everything before the committed offset in silence; gives what was read beyond it, or None if stopped."""
    decoder = UpdateDecoder(view)
    began = state.position
    rest: Records | None = None
    while state.position < to.position:
        if stop.is_set():
            return None
        records = drain.poll(_POLL_SECONDS, pace.limit)
        past = int((records.offsets < to.position).sum())
        if past:
            output = state.apply(decoder.decode(records.slice(0, past)))
            pace.made(len(output.records))
            metrics.replayed.labels(view.name).inc(past)
        rest = records.slice(past, len(records))
        if drain.position >= to.position:
            state.position = to.position  # after the last update before it there are only markers
    _settle_seq(view, state, to)
    _log.info(
        "%s: replayed %d updates to offset %d, seq %d", view.name, state.position - began, state.position, state.seq
    )
    return rest if rest is not None else Records.of([])


def _settle_seq(view: View, state: ViewState, to: Committed) -> None:
    """Coalesced views number what they publish, which only the commit knows; all others must come out the same."""
    assert to.seq is not None  # `settled` has seen to it
    if view.coalesce:
        state.seq = to.seq
    if state.seq != to.seq:
        raise NotDeterministic(
            f"replay of view {view.name!r} to offset {to.position} gives {state.seq} changes, but {to.seq} were "
            f"published: nothing more is published; audit the view (python -m spark_jobs.audit) before going on"
        )
