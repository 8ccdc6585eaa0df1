"""ESC (Hsueh, Zimmermann, Ku 2008) for one group: two skylines, dominance sets, and the two evaluations of an update.

S1 is the skyline of the group's objects P, S2 that of P - S1. Every object of S2 belongs to the dominance set D(s) of
one s in S1 that dominates it. So if s goes, only D(s) can take its place: whatever s alone dominated lies in S2 or is
dominated by S2, and an object of S2 outside D(s) has another dominator in S1.

docs/algorithms.md tells where this departs from the paper, and why.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skyline.live.blocktree import Places
from skyline.live.blocktree_kernels import dominated_by, farthest_dominator, is_dominated, row_total
from skyline.live.esc_kernels import (
    ABSENT,
    FIRST,
    REGULAR,
    SECOND,
    exclusive_corner,
    substitutes,
    two_skylines,
)
from skyline.live.objects import Objects, grown
from skyline.live.rtree_index import RStarTree
from skyline.view import Floats, Ints


class Roles:
    """What the groups of one engine share: points and places by slot, each slot's role, each S2 object's owner."""

    def __init__(self, objects: Objects, dimensions: int) -> None:
        self.objects = objects
        self.places = Places(dimensions)
        self.role = np.zeros(0, np.int8)
        self.owner = np.zeros(0, np.int64)

    def place(self, slots: Ints) -> None:
        """Makes room for the whole table and places these slots at their points."""
        capacity = len(self.objects.points)
        if len(self.role) < capacity:
            self.role, self.owner = grown(self.role, capacity), grown(self.owner, capacity)
        self.places.put(self.objects.points, slots)

    def row(self, slot: int) -> tuple[Floats, Floats]:
        """Point and place, each (1, d)."""
        return self.objects.points[slot : slot + 1], self.places.rows[slot : slot + 1]

    def total(self, slot: int) -> float:
        """What the paper calls mindist: the sum of the object's place, added up as the searches do."""
        return float(row_total(self.places.rows, slot))

    def order(self, slot: int) -> tuple[float, list[float]]:
        """A key by which no object comes before one that dominates it, although rounded totals can tie."""
        return self.total(slot), self.objects.points[slot].tolist()


@dataclass
class _Pending:
    """What S1Evaluation leaves to S2Evaluation."""

    slot: int
    was: int
    old: tuple[Floats, Floats] | None
    """Point and place before the update, each (1, d)."""
    present: bool
    dominator: int = -1
    promoted: list[int] = field(default_factory=list)
    demoted: list[int] = field(default_factory=list)


class EscGroup:
    """The objects of one group in three R*-trees: all of them, S1 and S2."""

    def __init__(self, roles: Roles, slots: Ints, capacity: int, fill: float) -> None:
        """Packs the data tree, and computes S1, S2 and the dominance sets in one traversal of it (Algorithm 1)."""
        self._roles = roles
        self._capacity, self._fill = capacity, fill
        self._data = self._tree(slots)
        points, places = roles.objects.points, roles.places.rows
        first, second, owners = two_skylines(self._data.blocks(), points, places)
        self._first, self._second = self._tree(first), self._tree(second)
        roles.role[slots] = REGULAR
        roles.role[first], roles.role[second] = FIRST, SECOND
        roles.owner[second] = first[owners]
        self._sets: dict[int, set[int]] = {slot: set() for slot in first.tolist()}
        for slot, owner in zip(second.tolist(), first[owners].tolist(), strict=True):
            self._sets[owner].add(slot)
        self._pending: _Pending | None = None

    def members(self) -> list[int]:
        """S1, in no order."""
        return list(self._sets)

    def __len__(self) -> int:
        return len(self._data)

    def evaluate_first(
        self, slot: int, old: tuple[Floats, Floats] | None, present: bool
    ) -> tuple[list[int], list[int]]:
        """S1Evaluation (Algorithm 3): who entered and who left S1. The rest waits for `evaluate_second`.

        `old` is the object's point and place before the update, each (1, d), if it was in the group; `present` tells
        whether it is in the group now, with point and place already in the tables.
        """
        self.evaluate_second()
        role = self._roles.role
        was = int(role[slot]) if old is not None else int(ABSENT)
        update = self._pending = _Pending(slot, was, old, present)
        candidates, left = [slot] if present else [], []
        if was == FIRST and old is not None:
            self._first.delete(slot, old[1][0])
            candidates += self._sets.pop(slot)
            left.append(slot)
        elif was == SECOND:
            self._sets[int(self._roles.owner[slot])].remove(slot)
        role[slot] = REGULAR if present else ABSENT
        # The object itself is a candidate among the others: one of them may dominate it where it is now.
        for candidate in sorted(candidates, key=self._roles.order):
            dominator = self._dominator(candidate)
            if dominator < 0:
                self._promote(candidate, update)
            elif candidate == slot:
                update.dominator = dominator
            else:
                self._assign(candidate, dominator)
        return update.promoted, left + update.demoted

    def evaluate_second(self) -> None:
        """S2Evaluation (Algorithm 4): brings data, S2 and the dominance sets in line with the last update."""
        update, self._pending = self._pending, None
        if update is None:
            return
        vacated = self._vacate(update)
        for slot in update.demoted:
            self._enter_second(slot)
        self._substitute(vacated)
        role = self._roles.role
        if update.present and role[update.slot] == REGULAR and not self._is_dominated_by_second(update.slot):
            self._enter_second(update.slot)
            role[update.slot] = SECOND
            self._assign(update.slot, update.dominator)
        for slot in update.promoted:
            self._find_dominance_set(slot)

    def _promote(self, slot: int, update: _Pending) -> None:
        """An object that S1 does not dominate enters S1. Only the updated one can dominate others there."""
        roles, (point, place) = self._roles, self._roles.row(slot)
        demoted: list[int] = []
        if slot == update.slot:
            demoted = dominated_by(self._first.blocks(), roles.objects.points, point, place).tolist()
        self._first.insert(slot, place[0])
        roles.role[slot] = FIRST
        self._sets[slot] = set()
        update.promoted.append(slot)
        for other in demoted:
            self._first.delete(other, roles.places.rows[other])
            roles.role[other] = SECOND
            # What was in D(other) is dominated by `other`, hence no longer in S2; S2Evaluation removes it.
            del self._sets[other]
            self._assign(other, slot)
        update.demoted += demoted

    def _vacate(self, update: _Pending) -> list[tuple[Floats, Floats]]:
        """Updates the data tree, and takes out of S2 what is no longer in it; gives points and places left."""
        vacated = []
        if update.old is not None:
            self._data.delete(update.slot, update.old[1][0])
            if update.was == SECOND:
                self._second.delete(update.slot, update.old[1][0])
                vacated.append(update.old)
        if update.present:
            self._data.insert(update.slot, self._roles.places.rows[update.slot])
        for slot in update.promoted:
            if slot != update.slot:
                point, place = self._roles.row(slot)
                self._second.delete(slot, place[0])
                vacated.append((point, place))
        return vacated

    def _substitute(self, vacated: list[tuple[Floats, Floats]]) -> None:
        """Finds the regular objects that only the vacated points kept out of S2, within their AEDRs."""
        if not vacated:
            return
        roles, tree = self._roles, self._second.blocks()
        points, places = roles.objects.points, roles.places.rows
        highs = np.array([exclusive_corner(tree, points, places, *left) for left in vacated])
        lows = np.concatenate([place for _, place in vacated])
        found = substitutes(self._data.blocks(), tree, points, places, roles.role, lows, highs)
        for slot in found.tolist():
            self._second.insert(slot, places[slot])
            roles.role[slot] = SECOND
            self._assign(slot, self._dominator(slot))

    def _enter_second(self, slot: int) -> None:
        """Adds an object that S2 does not dominate, and drops from S2 all that it dominates, whoever owns it."""
        roles, (point, place) = self._roles, self._roles.row(slot)
        for other in dominated_by(self._second.blocks(), roles.objects.points, point, place).tolist():
            self._second.delete(other, roles.places.rows[other])
            roles.role[other] = REGULAR
            self._sets.get(int(roles.owner[other]), set()).discard(other)
        self._second.insert(slot, place[0])

    def _find_dominance_set(self, slot: int) -> None:
        """FindDomSet (Algorithm 2): a new S1 object takes over what it dominates from owners with a smaller total."""
        roles, (point, place) = self._roles, self._roles.row(slot)
        total = roles.total(slot)
        for other in dominated_by(self._second.blocks(), roles.objects.points, point, place).tolist():
            owner = int(roles.owner[other])
            if roles.total(owner) < total:
                self._sets[owner].remove(other)
                self._assign(other, slot)

    def _assign(self, slot: int, owner: int) -> None:
        self._sets[owner].add(slot)
        self._roles.owner[slot] = owner

    def _dominator(self, slot: int) -> int:
        """Of the S1 objects that dominate this one, the one with the largest total; -1 if there is none."""
        roles = self._roles
        tree = self._first.blocks()
        return int(farthest_dominator(tree, roles.objects.points, roles.places.rows, *roles.row(slot)))

    def _is_dominated_by_second(self, slot: int) -> bool:
        return bool(is_dominated(self._second.blocks(), self._roles.objects.points, *self._roles.row(slot)))

    def _tree(self, slots: Ints) -> RStarTree:
        places = self._roles.places.rows
        return RStarTree(places.shape[1], slots, places[slots], capacity=self._capacity, fill=self._fill)

    def _check(self) -> None:
        """Asserts that the trees, S1, S2 and the dominance sets are what their definitions say. O(n^2 d)."""
        assert self._pending is None
        roles = self._roles
        live = [np.array(sorted(tree.slots()), np.int64) for tree in (self._data, self._first, self._second)]
        for tree in (self._data, self._first, self._second):
            tree._check()
        everything, first, second = live
        points = roles.objects.points
        rest = np.setdiff1d(everything, first)
        for among, skyline in ((everything, first), (rest, second)):
            expected = [s for s in among.tolist() if not _dominators(points, among, s).size]
            assert expected == skyline.tolist()
        assert set(first.tolist()) == set(self._sets)
        assert (roles.role[first] == FIRST).all()
        assert (roles.role[second] == SECOND).all()
        assert (roles.role[np.setdiff1d(rest, second)] == REGULAR).all()
        for slot in second.tolist():
            owner = int(roles.owner[slot])
            dominators = _dominators(points, first, slot)
            assert [s for s in self._sets if slot in self._sets[s]] == [owner]
            assert owner in dominators
            assert roles.total(owner) == max(roles.total(s) for s in dominators.tolist())
        assert sum(map(len, self._sets.values())) == len(second)


def _dominators(points: Floats, slots: Ints, slot: int) -> Ints:
    among, point = points[slots], points[slot]
    dominators: Ints = slots[(among <= point).all(axis=1) & (among < point).any(axis=1)]
    return dominators
