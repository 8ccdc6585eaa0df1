"""The rejects of a batch, as records for V.rejected."""

from __future__ import annotations

from maintainer.output import Out, Output, kafka_time
from skyline.view import Ints, View
from skyline.wire.decode import Decoded
from skyline.wire.rejects import cut_to_fit


def add_rejects(output: Output, view: View, batch: Decoded, at: Ints) -> None:
    """Adds every reject of the batch to its output, in the order of the log; `at` is the event time of each row."""
    for row in sorted(batch.rejected):
        why = batch.rejected[row]
        headers = why.headers(view.topic("updates"), 0, int(batch.records.offsets[row]))
        key, value, cut = cut_to_fit(batch.records.key(row), batch.records.value(row))
        output.records.append(Out(view.topic("rejected"), key, value, kafka_time(int(at[row])), headers + cut))
        output.rejected[why.reason] += 1
