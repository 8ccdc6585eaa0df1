"""Points of made-up objects as keys and values of updates, for any view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import orjson

from ingest.workloads.plan import Plan, Row
from skyline.view import Floats, Ints

SCALE: Final = 1000.0
"""Points of the unit cube become values from 0 to this."""


class Writer:
    """Writes updates of one plan's view. About 3 µs an update."""

    def __init__(self, plan: Plan, expires: bool = False) -> None:
        """`expires`: every update has a valid_until."""
        self._plan, view = plan, plan.view
        self._keyed = view.window is None
        self._signs = view.dimensions.signs
        members = [_name(name) + ":%.3f" for name in view.dimensions.names]
        members += [f'{_name(name)}:{_name(name)[:-1]}-%d"' for name in (*view.group_by, *view.carry)]
        members += ['"valid_until":%d'] if expires else []
        self._template = "{" + ",".join(members) + "}"

    def rows(
        self, numbers: Sequence[int] | Ints, points: Floats, times: Sequence[int], until: Sequence[int] | None = None
    ) -> Iterator[Row]:
        """One update per object `numbers[i]`, at `points[i]` of the unit cube, where smaller is always better."""
        values = np.where(self._signs > 0, points, 1 - points) * SCALE
        for index, number in enumerate(np.asarray(numbers).tolist()):
            fields: list[Any] = [*values[index].tolist(), *self._labels(number)]
            if until is not None:
                fields.append(until[index])
            key = f"o{number}".encode() if self._keyed else None
            yield key, (self._template % tuple(fields)).encode(), times[index]

    def _labels(self, number: int) -> list[int]:
        """What stands in group fields and carried fields: an object stays in its group."""
        view, groups = self._plan.view, self._plan.groups
        shares = [number // groups**place % groups for place in range(len(view.group_by))]
        return shares + [number] * len(view.carry)


def _name(name: str) -> str:
    return orjson.dumps(name).decode().replace("%", "%%")
