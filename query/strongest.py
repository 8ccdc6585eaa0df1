"""Who dominates the most."""

from __future__ import annotations

import numpy as np

from query.encode import Encoder
from query.gate import COUNTED_AT_ONCE, PAGES_AT_ONCE, Deadline
from query.table import State, Table


def strongest(table: Table, state: State, limit: int, encoder: Encoder, deadline: Deadline) -> bytes:
    """The `limit` objects that dominate the most others of their group, best first, then oldest first.

    Whatever dominates p dominates what p does, and p: so the answer lies among those that fewer than `limit` dominate.
    """
    with table.lock:
        labels = list(table.labels.values()) if table.view.group_by else None
    band = state.index.search(k=limit, labels=labels)
    found = [band.places(0)]
    while not band.over:
        deadline.check()
        found.append(band.places(pages=PAGES_AT_ONCE))
    places = np.concatenate(found)
    counts = np.zeros(len(places), np.int64)
    for start in range(0, len(places), COUNTED_AT_ONCE):
        deadline.check()
        chosen = slice(start, start + COUNTED_AT_ONCE)
        counts[chosen] = state.index.dominated(band.query, places[chosen])
    best = np.lexsort((places[:, 0], -counts))[:limit]
    records = table.objects.records(places[best, 0].tolist())
    fragments = [
        encoder.member(record, b',"dominates":%d' % count)
        for record, count in zip(records, counts[best].tolist(), strict=True)
    ]
    head = encoder.head(state.stamp, count=len(fragments))
    return head[:-1] + b',"objects":[' + b",".join(fragments) + b"]}"
