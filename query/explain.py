"""Why an object is, or is not, a member; how far away it is; and what would make it one."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from query.encode import Encoder, interval_of, spliced
from query.gate import PAGES_AT_ONCE, Deadline
from query.layers import depth
from query.objects import Record, point_of
from query.table import State, Table
from skyline.view import Floats
from skyline.wire.fields import jsonable

LAYERS: Final = 10
"""Layers that are told apart."""

MOST_DOMINATORS: Final = 100
"""Dominators that are listed; all are counted."""

_SAMPLE: Final = 2_000
"""Rows that usually hold a chain longer than LAYERS, if there are so many above an object at all."""


def explain(table: Table, state: State, record: Record, encoder: Encoder, deadline: Deadline) -> dict[str, Any]:
    """All that is known about an object at `state`, but for its history. Some milliseconds at a million objects."""
    waits = record[4] > state.stamp.clock
    answer: dict[str, Any] = {
        "key": record[0], "point": encoder.point(point_of(record).tolist()), **spliced(record[3]), **interval_of(record)
    }  # fmt: skip
    if waits:
        return {**answer, "state": "waiting", "member": False}
    box = _box_above(table, record)
    label = record[2] if table.view.group_by else None
    search = state.index.search(**box, label=label)
    dominators: list[Record] = []
    while not search.over:
        deadline.check()
        above = table.objects.records(search.places(pages=PAGES_AT_ONCE)[:, 0].tolist())
        dominators += [other for other in above if other[1] != record[1]]
    answer |= {"state": "dominated" if dominators else "member", "member": not dominators}
    answer["dominated_by"] = _dominated_by(record, dominators, encoder)
    answer["layer"], answer["deeper_than"] = _layer(table, state, record, box, label, deadline)
    answer["to_enter"] = _to_enter(table, record, dominators) if dominators else []
    return answer


def _box_above(table: Table, record: Record) -> dict[str, Any]:
    """The box of all that is at least as good in every dimension. Its skyline: the members among them."""
    point = point_of(record).tolist()
    smaller = [way == "min" for way in table.view.dimensions.directions]
    return {
        "low": [None if least else value for value, least in zip(point, smaller, strict=True)],
        "high": [value if least else None for value, least in zip(point, smaller, strict=True)],
    }


def _dominated_by(record: Record, dominators: list[Record], encoder: Encoder) -> dict[str, Any]:
    """The dominating members, nearest first, and by how much each is better."""
    point = point_of(record)
    gaps = [(_gap(point, point_of(other)), other) for other in dominators]
    gaps.sort(key=lambda pair: (sum(pair[0].tolist()), pair[1][0]))
    listed = [
        {
            "key": other[0],
            "point": encoder.point(point_of(other).tolist()),
            **spliced(other[3]),
            "better_by": encoder.point(gap.tolist()),
        }
        for gap, other in gaps[:MOST_DOMINATORS]
    ]
    return {"count": len(dominators), "members": listed}


def _gap(worse: Floats, better: Floats) -> Floats:
    """Distance in each dimension; equal infinities are no distance, and one too large for a float is infinite."""
    gap = np.zeros(len(worse))
    with np.errstate(over="ignore"):
        np.subtract(worse, better, out=gap, where=worse != better)
    return np.abs(gap)


def _layer(
    table: Table, state: State, record: Record, box: dict[str, Any], label: int | None, deadline: Deadline
) -> tuple[int | None, int | None]:
    """(layer, None), or (None, n) for an object that is deeper than n: LAYERS, or as far as the time allowed to see.

    What dominates an object lies in its box, and so does all that dominates that: the layers of the box are enough. A
    sample of it gives a lower bound, which settles most objects that are deep.
    """
    point = table.view.dimensions.inward([point_of(record)])[0]
    for most in (_SAMPLE, max(state.objects, _SAMPLE)):
        places = state.index.within(box["low"], box["high"], label, most)
        rows = state.index.rows(places)[:, : len(table.view.dimensions)]
        layers, all_ = depth(rows[(rows != point).any(axis=1)], LAYERS, deadline)
        if layers == LAYERS or not all_:
            break
        if len(places) < most:
            return 1 + layers, None
    return None, layers


def _to_enter(table: Table, record: Record, dominators: list[Record]) -> list[dict[str, Any]]:
    """The smallest change in each single dimension that makes the object a member, all else being as it is.

    It must get past every dominator: strictly, but for one that is equal in all other dimensions, which it may
    equal. Of the dominators it is enough to look at members: one that is best in a dimension is among them.
    """
    dimensions = table.view.dimensions
    point = dimensions.inward([point_of(record)])[0]
    others = dimensions.inward(np.array([point_of(other) for other in dominators]))
    ways = []
    for axis, name in enumerate(dimensions.names):
        best = float(others[:, axis].min())
        rest = np.arange(len(dimensions)) != axis
        nearest = others[others[:, axis] == best][:, rest]
        equal = bool((nearest == point[rest]).all())
        if best == -np.inf and not equal:
            continue
        outward = best * float(dimensions.signs[axis]) + 0.0
        change = _signed_gap(outward, float(point_of(record)[axis]))
        ways.append({"dimension": name, "to": jsonable(outward), "past": not equal, "change": jsonable(change)})
    return ways


def _signed_gap(to: float, value: float) -> float:
    return 0.0 if to == value else to - value
