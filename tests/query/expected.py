"""What an answer must be, by definition, from the updates up to its offset. Nothing here is fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from skyline.view import View
from skyline.wire.modify import modified
from skyline.wire.updates import Delete, Modification, Upsert, read_update
from tests import naive
from tests.query.harness import Row


@dataclass
class Live:
    """An object that is there: its key, its record, the offset of the update that wrote it."""

    key: str
    record: Upsert
    offset: int


def clock_after(rows: Sequence[Row]) -> int:
    return max(at for _, _, at in rows)


def known_after(view: View, rows: Sequence[Row]) -> dict[str, Live]:
    """Objects that are live or wait after these updates, by key."""
    objects: dict[str, Live] = {}
    clock = 0
    for offset, (key, value, at) in enumerate(rows):
        clock = max(clock, at)
        objects = {name: held for name, held in objects.items() if held.record.valid_until > clock}
        result = read_update(view, key, value)
        if not isinstance(result, tuple):
            continue
        name, update = result
        if isinstance(update, Modification) and name in objects:
            changed = modified(view, objects[name].record, update)
            assert isinstance(changed, Upsert)
            update = changed
        if isinstance(update, Upsert):
            objects[name] = Live(name, update, offset)
        elif isinstance(update, Delete):
            objects.pop(name, None)
    return {name: held for name, held in objects.items() if held.record.valid_until > clock}


def live_after(view: View, rows: Sequence[Row]) -> list[Live]:
    clock = clock_after(rows)
    return [held for held in known_after(view, rows).values() if held.record.valid_from <= clock]


def groups_in(view: View, rows: Sequence[Row]) -> list[str]:
    """Groups in order of appearance."""
    updates = [read_update(view, key, value) for key, value, _ in rows]
    upserts = [result[1] for result in updates if isinstance(result, tuple) and isinstance(result[1], Upsert)]
    return list(dict.fromkeys(upsert.group for upsert in upserts))


@dataclass
class Asked:
    """A question, in the words of the API."""

    where: list[tuple[str, str, float]] = field(default_factory=list)
    dims: list[str] | None = None
    rank: dict[str, float] | None = None
    near: dict[str, float] = field(default_factory=dict)
    k: int = 1
    group: str | None = None
    limit: int | None = None

    def parameters(self) -> dict[str, Any]:
        return {
            "where": [f"{name}{op}{value}" for name, op, value in self.where] or None,
            "dims": self.dims and ",".join(self.dims),
            "rank": self.rank and ",".join(f"{name}:{weight}" for name, weight in self.rank.items()),
            "near": ",".join(f"{name}:{value}" for name, value in self.near.items()) or None,
            "k": self.k if self.k > 1 else None,
            "group": None if self.group is None else f"city:{self.group}",
            "limit": self.limit,
        }


def answer(view: View, live: Sequence[Live], asked: Asked, groups: Sequence[str] = ()) -> list[tuple[str, int]]:
    """(key, number of objects that it dominates among those that take part) in the order of the answer.

    `groups`, in order of appearance, tell the order of ties.
    """
    names = view.dimensions.names
    partakers = [held for held in live if _takes_part(names, held, asked)]
    dims = asked.dims or list(names)
    space = {held.key: [_coordinate(view, held, name, asked) for name in dims] for held in partakers}
    found = []
    labels = list(groups) or sorted({held.record.group for held in live})
    for held in partakers:
        peers = [space[other.key] for other in partakers if other.record.group == held.record.group]
        mine = space[held.key]
        if sum(naive.dominates(peer, mine) for peer in peers) < asked.k:
            weights = [1.0 if asked.rank is None else asked.rank.get(name, 0.0) for name in dims]
            order = (_sum(mine, weights), mine, labels.index(held.record.group), held.offset)
            found.append((order, held.key, sum(naive.dominates(mine, peer) for peer in peers)))
    return [(key, count) for _, key, count in sorted(found)][: asked.limit]


def _takes_part(names: Sequence[str], held: Live, asked: Asked) -> bool:
    tests = {
        "<=": lambda a, b: a <= b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, ">": lambda a, b: a > b,
        "=": lambda a, b: a == b,
    }  # fmt: skip
    within = all(tests[op](held.record.point[names.index(name)], value) for name, op, value in asked.where)
    return within and (asked.group is None or held.record.group.startswith(f'"{asked.group}",'))


def _coordinate(view: View, held: Live, name: str, asked: Asked) -> float:
    axis = view.dimensions.names.index(name)
    value = held.record.point[axis]
    if name in asked.near:
        return abs(value - asked.near[name])
    return value * float(view.dimensions.signs[axis]) + 0.0


def _sum(corner: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted sum, with infinities as large finite numbers, as the search orders by it."""
    total = 0.0
    for value, weight in zip(corner, weights, strict=True):
        term = min(max(value, -1.7e308), 1.7e308) * weight
        total += min(max(term, -1e307), 1e307)
    return total
