"""Objects whose `valid_from` has not come."""

from __future__ import annotations

import heapq

from skyline.view import Ints


class Waiting:
    """A heap by start. One that was replaced meanwhile is forgotten when its time comes. O(log n) each."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int]] = []

    def add(self, starts: list[int], slots: list[int], ids: list[int]) -> None:
        for entry in zip(starts, slots, ids, strict=True):
            heapq.heappush(self._heap, entry)

    def due(self, clock: int, current: Ints) -> list[int]:
        """Takes out the ids that start up to `clock` and are still those of their slots, by `current`."""
        started = []
        while self._heap and self._heap[0][0] <= clock:
            _, slot, number = heapq.heappop(self._heap)
            if current[slot] == number:
                started.append(number)
        return started
