"""The state of a window view: window, standing queries, position in the log. Updates in, records out; no Kafka here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maintainer.output import Out, Output, kafka_time
from maintainer.rejects import add_rejects
from skyline.view import View
from skyline.window import Watch
from skyline.window.changes import LEAVE, OPS, REASONS, WindowChanges
from skyline.wire.changes import ChangeWriter
from skyline.wire.decode import Decoded
from skyline.wire.elements import Element
from skyline.wire.view_window import Applied, ViewWindow

State = dict[str, Any]


@dataclass(slots=True)
class Log:
    """One standing query and the topic that tells its changes; `table` is the topic of its members, if any."""

    watch: Watch
    topic: str
    table: str | None = None
    seq: int = 0
    """Number of its last change."""


class WindowState:
    """A deterministic function from updates to changes, held at one place of the log.

    The first log is that of the whole window, V.changes with V.skyline; then one for each watch of the view, with its
    own topic and its own count of changes. Within one update changes come as everywhere, leave before enter, but in
    order of arrival instead of key.
    """

    def __init__(self, view: View, held: ViewWindow | None = None, seqs: Sequence[int] = ()) -> None:
        """`held` and `seqs` are those of a state that goes on: the window, and the last change of each log."""
        self.view = view
        self._held = held if held is not None else ViewWindow(view)
        self._writer = ChangeWriter(view)
        whole = Log(self._held.watch(self._held.window.width), view.topic("changes"), view.topic("skyline"))
        watches = [Log(self._held.watch(n), view.topic(kind)) for n, kind in view.watch_kinds.items()]
        self._logs = [whole, *watches]
        for log, seq in zip(self._logs, seqs, strict=bool(seqs)):
            log.seq = seq
        self.position = self._held.position
        self.seq = whole.seq

    def apply(self, batch: Decoded) -> Output:
        """Applies a batch of updates. Rejects and ticks bring no element, but their time counts."""
        applied = self._held.apply(batch)
        self.position = self._held.position
        output = Output(
            self.position, self.seq, self._held.clock, len(self._logs[0].watch.members()), len(self._held.window),
            len(batch.records),
        )  # fmt: skip
        for log in self._logs:
            self._tell(log, output, batch, applied)
        output.seq = self.seq = self._logs[0].seq
        add_rejects(output, self.view, batch, applied.at)
        self._held.forget()
        return output

    def dump(self) -> State:
        """Everything that `load` needs, as plain arrays, numbers, strings and lists of bytes."""
        return {**self._held.dump(), "position": self.position, "seqs": np.array([log.seq for log in self._logs])}

    @classmethod
    def load(cls, view: View, state: State) -> WindowState:
        return cls(view, ViewWindow.load(view, state), state["seqs"].tolist())

    def _tell(self, log: Log, output: Output, batch: Decoded, applied: Applied) -> None:
        changes = log.watch.changes()
        offsets = batch.records.offsets[self._held.rows_of(changes, applied)].tolist()
        elements, causes = self._held.elements(changes.positions), self._held.elements(changes.by)
        for i, (element, cause, offset) in enumerate(zip(elements, causes, offsets, strict=True)):
            self._publish(log, output, changes, i, element, cause.key, offset)

    def _publish(
        self, log: Log, output: Output, changes: WindowChanges, i: int, element: Element, by: str, offset: int
    ) -> None:
        log.seq += 1
        key, point, extras = element.key, element.point, element.extras
        op, reason, at = OPS[changes.ops[i]], REASONS[changes.reasons[i]], int(changes.at[i])
        value = self._writer.change(log.seq, op, key, point, extras, reason, by, at, offset, int(changes.sizes[i]))
        name, timestamp = key.encode(), kafka_time(at)
        output.records.append(Out(log.topic, name, value, timestamp))
        if log.table is None:
            return
        member = None
        if changes.ops[i] != LEAVE:
            member = self._writer.member(log.seq, key, point, extras, at, offset)
        output.records.append(Out(log.table, name, member, timestamp))
        output.changes[op, reason] += 1
