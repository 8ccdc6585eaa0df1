"""ESC's Algorithms 2, 3 and 4 as the paper prints them, on plain sets, to show where they go astray.

Only misprints are mended: the two sets called S~2 in Algorithm 3 are told apart, and dominance is the project's. Where
the text leaves room, the reading is the kinder one: an object does not meet its own old position in S2, and AEDR
yields exactly the regular objects that nothing in S2 dominates, and none that another of them dominates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests import naive

Point = tuple[float, ...]


class PrintedEsc:
    """Starts from the definitions of S1, S2 and the dominance sets; `update` then follows the paper line by line."""

    def __init__(self, points: Mapping[str, Point]) -> None:
        self.points = dict(points)
        self.first = naive.members(self.points)
        rest = {key: point for key, point in self.points.items() if key not in self.first}
        self.second = naive.members(rest)
        self.sets: dict[str, list[str]] = {key: [] for key in self.first}
        for key in rest:
            if key in self.second:
                self.sets[self._farthest(key)].append(key)

    def update(self, key: str, point: Point | None) -> None:
        """Moves or inserts an object, or removes it (None)."""
        was_first, was_second = key in self.first, key in self.second
        old_set = list(self.sets.get(key, []))
        self.points.pop(key, None)
        if point is not None:
            self.points[key] = point

        # Algorithm 3, S1Evaluation
        new_first: list[str] = []
        new_second: list[str] = []
        gone_second: list[str] = []
        self.first.discard(key)
        dominated = point is not None and self._any_dominates(self.first, key)
        if point is not None and not dominated:
            beaten = [s for s in sorted(self.first) if self._dominates(key, s)]
            self.first = (self.first | {key}) - set(beaten)
            new_first.append(key)
            new_second += beaten
            self.sets.setdefault(key, []).extend(beaten)
        if was_first:
            for other in old_set:
                if not self._any_dominates(self.first, other):
                    self.first.add(other)
                    self.sets[key].remove(other)
                    new_first.append(other)
                    gone_second.append(other)

        # Algorithm 4, S2Evaluation
        if was_second:
            gone_second.append(key)
            self.second.remove(key)
        if dominated and not self._any_dominates(self.second, key):
            self.second = {s for s in self.second if not self._dominates(key, s)} | {key}
            gone_second = [s for s in gone_second if s != key]
            for members in self.sets.values():
                members[:] = [s for s in members if s != key]
            self.sets[self._farthest(key)].append(key)
        self.second |= set(new_second)
        for other in new_second:
            self.second -= set(self.sets.pop(other))
        self.second -= set(gone_second)
        regular = {k: p for k, p in self.points.items() if k not in self.first and k not in self.second}
        free = {k: p for k, p in regular.items() if not self._any_dominates(self.second, k)}
        self.second |= naive.members(free)
        if point is None:
            self.sets.pop(key, None)

        # Algorithm 2, FindDomSet
        for new in new_first:
            for owner in [s for s in self.sets if s in self.first and self._total(s) < self._total(new)]:
                for other in [o for o in self.sets[owner] if self._dominates(new, o)]:
                    self.sets[owner].remove(other)
                    self.sets.setdefault(new, []).append(other)

    def _dominates(self, key: str, other: str) -> bool:
        return naive.dominates(self.points[key], self.points[other])

    def _any_dominates(self, keys: Iterable[str], other: str) -> bool:
        return any(self._dominates(key, other) for key in keys)

    def _total(self, key: str) -> float:
        return sum(self.points[key])

    def _farthest(self, key: str) -> str:
        return max((s for s in self.first if self._dominates(s, key)), key=self._total)
