"""The baseline of both papers: the skyline computed anew at every event."""

from __future__ import annotations

import numpy as np

from skyline.live.engine import dominating
from skyline.live.events import Effect, EventEngine
from skyline.view import Floats, Ints


class Recompute(EventEngine):
    """Keeps each group's objects and nothing else. Every event costs O(n m d), for n objects and m members."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self._groups: dict[int, set[int]] = {}
        self._members: dict[int, set[int]] = {}

    def insert(self, group: int, slot: int) -> Effect:
        self._groups.setdefault(group, set()).add(slot)
        return self._recompute(group)

    def remove(self, group: int, slot: int) -> Effect:
        self._groups[group].remove(slot)
        return self._recompute(group)

    def move(self, group: int, slot: int, old: Floats) -> Effect:  # noqa: ARG002
        return self._recompute(group)

    def build(self, group: int, slots: Ints) -> None:
        self._groups[group] = set(slots.tolist())
        self._recompute(group)

    def _recompute(self, group: int) -> Effect:
        slots = np.array(sorted(self._groups[group]), np.int64)
        before, now = self._members.pop(group, set()), self._skyline(slots)
        if now:
            self._members[group] = now
        else:
            del self._groups[group]
        return Effect(entered=now - before, left=before - now)

    def _skyline(self, slots: Ints) -> set[int]:
        """In lexicographic order no point is dominated by a later one, so one pass over the members suffices."""
        points = self.objects.points[slots]
        order = np.lexsort(points.T[::-1])
        members = np.empty(points.shape)
        found: list[int] = []
        for row in order.tolist():
            if not dominating(members[: len(found)], points[row]).any():
                members[len(found)] = points[row]
                found.append(int(slots[row]))
        return set(found)
