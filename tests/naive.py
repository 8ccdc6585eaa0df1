"""The definitions, in code that anyone can check by eye. Every engine, window, index and job is tested against it.

Points are normalised: smaller is better in every dimension. Nothing here is fast.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Point = Sequence[float]
Key = TypeVar("Key", bound=Hashable)


def dominates(p: Point, q: Point) -> bool:
    """At least as good in every dimension, better in one."""
    return all(a <= b for a, b in zip(p, q, strict=True)) and any(a < b for a, b in zip(p, q, strict=True))


def dominators(points: Sequence[Point], row: int) -> list[int]:
    """Rows that dominate this row."""
    return [other for other, p in enumerate(points) if dominates(p, points[row])]


def skyline(points: Sequence[Point]) -> list[int]:
    """Rows that no row dominates."""
    return skyband(points, 1)


def skyband(points: Sequence[Point], k: int) -> list[int]:
    """Rows that fewer than k rows dominate."""
    return [row for row in range(len(points)) if len(dominators(points, row)) < k]


def window_skyline(stream: Sequence[Point], n: int) -> list[int]:
    """Stream positions of the skyline of the newest n elements."""
    return between_skyline(stream, 1, n)


def between_skyline(stream: Sequence[Point], n1: int, n2: int) -> list[int]:
    """Positions of the skyline of the stretch from the n2-th newest to the n1-th newest element, both included."""
    first, last = max(0, len(stream) - n2), max(0, len(stream) - n1 + 1)
    return [first + row for row in skyline(stream[first:last])]


def members(objects: Mapping[Key, Point], groups: Mapping[Key, Hashable] | None = None) -> set[Key]:
    """Keys of the objects that no object of the same group dominates."""
    return {
        key
        for key, point in objects.items()
        if not any(
            dominates(other, point) for k, other in objects.items() if groups is None or groups[k] == groups[key]
        )
    }


def valid(valid_from: int, valid_until: int, at: int) -> bool:
    """Validity is the half-open interval [valid_from, valid_until)."""
    return valid_from <= at < valid_until


def as_of(changes: Iterable[tuple[int, str, Key]], at: int) -> set[Key]:
    """Members at event time `at`, replayed from (at, op, key) changes in log order."""
    current: set[Key] = set()
    for when, op, key in changes:
        if when > at:
            break
        if op == "leave":
            current.remove(key)
        elif op == "enter":
            assert key not in current
            current.add(key)
        else:
            assert key in current
    return current
