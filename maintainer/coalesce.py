"""Nets the changes of one batch, for views whose subscribers want less."""

from __future__ import annotations

from skyline.live.changes import ENTER, LEAVE, MOVE, MOVED, Changes


def coalesced(changes: Changes, extras: list[bytes]) -> list[int]:
    """Indices, ascending, of the changes that remain: at most one per object, none where it ends as it began. O(m).

    The last change of an object stands for all of them, in its place of the log. What no longer fits is mended in
    place: the op (an object that left and entered again has moved), the reason (one that entered and then moved has
    entered for the reason it entered), and every size.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    entered: dict[int, int] = {}
    for i, (slot, op) in enumerate(zip(changes.slots.tolist(), changes.ops.tolist(), strict=True)):
        first.setdefault(slot, i)
        last[slot] = i
        if op == ENTER:
            entered[slot] = i
    size = int(changes.sizes[0] - (changes.ops[0] - MOVE)) if len(changes) else 0
    chosen = sorted(end for slot, end in last.items() if not _ends_as_it_began(changes, extras, first[slot], end))
    was_member = {slot: changes.ops[start] != ENTER for slot, start in first.items()}
    for i in chosen:
        slot = int(changes.slots[i])
        _mend(changes, i, was_member[slot], entered.get(slot))
        size += int(changes.ops[i]) - MOVE
        changes.sizes[i] = size
    return chosen


def _ends_as_it_began(changes: Changes, extras: list[bytes], start: int, end: int) -> bool:
    was, stays = changes.ops[start] != ENTER, changes.ops[end] != LEAVE
    if was and stays:
        # only a leave tells what the object was before: a move does not
        left = changes.ops[start] == LEAVE
        return bool(left and extras[start] == extras[end] and (changes.points[start] == changes.points[end]).all())
    return not was and not stays


def _mend(changes: Changes, i: int, was_member: bool, entered: int | None) -> None:
    if changes.ops[i] == LEAVE:
        return
    if was_member:
        changes.ops[i], changes.reasons[i] = MOVE, MOVED
        return
    assert entered is not None  # it was no member and is one now
    changes.ops[i] = ENTER
    changes.reasons[i], changes.by[i] = changes.reasons[entered], changes.by[entered]
