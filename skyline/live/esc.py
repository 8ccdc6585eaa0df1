"""The engine `esc`: the 2008 paper on libspatialindex's R*-tree, one group of two skylines per group of objects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skyline.live.esc_group import EscGroup, Roles
from skyline.live.events import Effect, EventEngine
from skyline.live.keys import Keys
from skyline.live.rtree_index import CAPACITY, FILL, check_options
from skyline.view import Floats, Ints


class Esc(EventEngine):
    """Answers each update by S1Evaluation; `settle` then runs S2Evaluation, which no answer waits for.

    So the paper's response time is the time of `insert`, `remove` and `move`, its overall time that plus `settle`.
    To tell them apart without touching either, set `answered`: it is called between the two, once per update.

    capacity    entries per node of the R*-trees; the paper's pages of 4 KB hold 4096 // (8 d + 4)
    fill        least share of them in use
    """

    def __init__(self, dimensions: int, capacity: int = CAPACITY, fill: float = FILL) -> None:
        super().__init__(dimensions)
        check_options(capacity, fill)
        self._capacity, self._fill = capacity, fill
        self._roles = Roles(self.objects, dimensions)
        self._groups: dict[int, EscGroup] = {}
        self._unsettled: list[int] = []
        self.answered: Callable[[], None] = _nobody_asks

    def insert(self, group: int, slot: int) -> Effect:
        self._place(slot)
        if group not in self._groups:
            self._groups[group] = self._group(np.zeros(0, np.int64))
        return self._evaluate(group, slot, None, present=True)

    def remove(self, group: int, slot: int) -> Effect:
        point, place = self._roles.row(slot)
        return self._evaluate(group, slot, (point.copy(), place.copy()), present=False)

    def move(self, group: int, slot: int, old: Floats) -> Effect:
        place = self._roles.row(slot)[1].copy()
        self._place(slot)
        return self._evaluate(group, slot, (old[None], place), present=True)

    def settle(self) -> None:
        """S2Evaluation, after the update's changes are known."""
        self.answered()
        for group in self._unsettled:
            self._groups[group].evaluate_second()
            if not len(self._groups[group]):
                del self._groups[group]
        self._unsettled.clear()

    def build(self, group: int, slots: Ints) -> None:
        self._roles.place(slots)
        self._groups[group] = self._group(slots)

    def _evaluate(self, group: int, slot: int, old: tuple[Floats, Floats] | None, present: bool) -> Effect:
        self._unsettled.append(group)
        entered, left = self._groups[group].evaluate_first(slot, old, present)
        return Effect(entered, left)

    def _place(self, slot: int) -> None:
        self._roles.place(np.array([slot], np.int64))

    def _group(self, slots: Ints) -> EscGroup:
        return EscGroup(self._roles, slots, self._capacity, self._fill)

    def _check(self, keys: Keys) -> None:
        super()._check(keys)
        table = self.objects
        live = table.live()
        assert set(self._groups) == set(table.group[live].tolist())
        for group, structure in self._groups.items():
            structure._check()
            assert len(structure) == (table.group[live] == group).sum()
            members = table.members()
            assert sorted(structure.members()) == members[table.group[members] == group].tolist()


def _nobody_asks() -> None:
    """The default of `Esc.answered`."""
