"""Turns modifications ($op) into whole records: what each makes of the object that is there at that moment."""

from __future__ import annotations

from collections.abc import Callable

from skyline.view import Ints, View
from skyline.wire.decode import Decoded
from skyline.wire.modify import modified
from skyline.wire.rejects import Rejected
from skyline.wire.updates import Upsert

Lookup = Callable[[str], Upsert | None]


def resolve(view: View, batch: Decoded, at: Ints, lookup: Lookup) -> None:
    """Replaces every modification of the batch by the record or the reject that it amounts to. O(rows)."""
    if not batch.modifications:
        return
    wanted = {batch.keys[row] for row in batch.modifications}
    current: dict[str, Upsert | None] = {}
    for row, key in enumerate(batch.keys):
        if key not in wanted or row in batch.rejected:
            continue
        now = int(at[row])
        if row in batch.modifications:
            known = current[key] if key in current else lookup(key)
            result = _result(view, batch, row, known if known and known.valid_until > now else None)
            if isinstance(result, Rejected):
                batch.rejected[row] = result
                continue
            batch.put(row, result)
        current[key] = None if batch.deleted[row] else _record(batch, row)
    batch.modifications.clear()


def _result(view: View, batch: Decoded, row: int, known: Upsert | None) -> Upsert | Rejected:
    change = batch.modifications[row]
    if known is None:
        return Rejected("unknown_object", f"$op {change.op} on {batch.keys[row]!r}, which is not there")
    return modified(view, known, change)


def _record(batch: Decoded, row: int) -> Upsert:
    return Upsert(
        tuple(batch.points[row].tolist()),
        int(batch.valid_from[row]),
        int(batch.valid_until[row]),
        batch.groups[row] if batch.groups is not None else "",
        batch.extras[row] if batch.extras is not None else b"",
    )
