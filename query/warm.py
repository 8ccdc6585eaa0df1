"""Compiles, or loads from the cache, every kernel that answers need: before the first request, not during it."""

from __future__ import annotations

import numpy as np

from query.encode import Encoder
from query.explain import explain
from query.gate import Deadline
from query.layers import depth
from query.strongest import strongest
from query.tables import table_for
from query.windowed import WindowTable
from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from skyline.wire.updates import write_update
from skyline.wire.view_window import ViewWindow


def warm_up(view: View) -> None:
    """Takes a table of the view's shape through every kind of work. Seconds without a cache, else some 0.1 s."""
    table, decoder, encoder = table_for(view, keep=0.0), UpdateDecoder(view), Encoder(view)
    fields = dict.fromkeys((*view.dimensions.names, *view.group_by), 0)
    worse = {**fields, **dict.fromkeys(view.dimensions.names, 1)}
    rows: list[tuple[bytes | None, bytes | None, int, int]]
    rows = [(b"$tick", None, 0, 0), (b"a", write_update(fields), 1, 1), (b"b", write_update(worse), 1, 2)]
    table.apply(decoder.decode(Records.of(rows)))
    table.load()
    table.apply(decoder.decode(Records.of([(b"a", write_update(worse), 2, 3), (b"b", None, 2, 4)])))
    state, deadline = table.state, Deadline(float("inf"))
    assert state is not None
    record = table.objects.all()[0][1]
    if isinstance(table, WindowTable):
        table.last(1)
        table.between(1, 1)
        # its arrays are moved as they are dumped and loaded, once they are used up or too small
        ViewWindow.load(view, ViewWindow(view, history=True).dump())
    labels = list(table.labels.values()) if view.group_by else None
    list(state.index.search(limit=1, labels=labels))
    strongest(table, state, 1, encoder, deadline)
    explain(table, state, record, encoder, deadline)
    depth(np.ones((1, len(view.dimensions))), 1, deadline)
    state.index.sample(1, np.random.default_rng(0))
    if labels is None:
        state.index.approximate(1)
