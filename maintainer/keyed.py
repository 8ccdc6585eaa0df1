"""The state of a keyed view: engine, carried fields, position in the log. Updates in, records out; no Kafka here."""

from __future__ import annotations

from typing import Any

import numpy as np

from maintainer.coalesce import coalesced
from maintainer.extras import Extras
from maintainer.output import Out, Output, kafka_time
from maintainer.rejects import add_rejects
from skyline import Skyline
from skyline.live.changes import LEAVE, OPS, REASONS, Changes
from skyline.view import Ints, View
from skyline.wire.changes import ChangeWriter
from skyline.wire.decode import Decoded
from skyline.wire.resolve import resolve
from skyline.wire.updates import TICK, Upsert, group_of

State = dict[str, Any]


class KeyedState:
    """A deterministic function from updates to changes, held at one place of the log."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.position = 0
        self.seq = 0
        self._live = Skyline(dict(zip(view.dimensions.names, view.dimensions.directions, strict=True)), view.engine)
        self._extras = Extras()
        self._writer = ChangeWriter(view)

    @property
    def clock(self) -> int:
        return self._live.clock

    def apply(self, batch: Decoded) -> Output:
        """Applies a batch of updates. Rejects and ticks take part as deletions of nothing: their time counts."""
        at = np.maximum.accumulate(np.maximum(batch.records.timestamps, self.clock))
        resolve(self.view, batch, at, self._record)
        keys, deleted = batch.keys, batch.deleted
        for row in (*batch.ticks, *batch.rejected):
            keys[row] = TICK
            deleted[row] = True
        touched = None
        if batch.extras is not None:
            touched = self._extras.touched(keys, self._live.slots(keys), batch.extras)
        changes = self._live.apply(
            keys, batch.points, deleted, batch.valid_until, at, valid_from=batch.valid_from, groups=batch.groups,
            touched=touched,
        )  # fmt: skip
        return self._output(batch, at, changes)

    def dump(self) -> State:
        """Everything that `load` needs, as plain arrays, numbers, strings and lists of bytes."""
        return {"position": self.position, "seq": self.seq, "extras": self._extras.dump(), **self._live.dump()}

    @classmethod
    def load(cls, view: View, state: State) -> KeyedState:
        loaded = cls(view)
        loaded.position, loaded.seq = state["position"], state["seq"]
        own = ("position", "seq", "extras")
        loaded._live = Skyline.load({name: value for name, value in state.items() if name not in own}, view.engine)
        loaded._extras = Extras(state["extras"])
        return loaded

    def _record(self, key: str) -> Upsert | None:
        found = self._live.record(key)
        if found is None:
            return None
        point, valid_from, valid_until = found
        extras = self._extras.of(int(self._live.slots([key])[0]))
        return Upsert(point, valid_from, valid_until, group_of(self.view, extras), extras)

    def _output(self, batch: Decoded, at: Ints, changes: Changes) -> Output:
        offsets = batch.records.offsets
        extras = self._extras.at_changes(changes, batch.extras) if batch.extras is not None else [b""] * len(changes)
        self.position = int(offsets[-1]) + 1
        first = self.seq
        chosen = coalesced(changes, extras) if self.view.coalesce else range(len(changes))
        output = Output(self.position, first, self.clock, len(self._live), self._live.objects, len(batch.records))
        self._publish(output, changes, chosen, extras, offsets)
        self.seq = output.seq
        add_rejects(output, self.view, batch, at)
        return output

    def _publish(
        self, output: Output, changes: Changes, chosen: range | list[int], extras: list[bytes], offsets: Ints
    ) -> None:
        log, table = self.view.topic("changes"), self.view.topic("skyline")
        ops, reasons, when = changes.ops.tolist(), changes.reasons.tolist(), changes.at.tolist()
        points, sizes = changes.points.tolist(), changes.sizes.tolist()
        places = offsets[changes.rows].tolist()
        for i in chosen:
            output.seq += 1
            key, point, at, place = str(changes.keys[i]), points[i], when[i], places[i]
            op, reason, name = OPS[ops[i]], REASONS[reasons[i]], key.encode()
            value = self._writer.change(
                output.seq, op, key, point, extras[i], reason, str(changes.by[i]), at, place, sizes[i]
            )
            member = None
            if ops[i] != LEAVE:
                member = self._writer.member(output.seq, key, point, extras[i], at, place)
            timestamp = kafka_time(at)
            output.records.append(Out(log, name, value, timestamp))
            output.records.append(Out(table, name, member, timestamp))
            output.changes[op, reason] += 1
