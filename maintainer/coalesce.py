"""Nets the changes of one batch, for views whose subscribers want less."""

from __future__ import annotations

from skyline.live.changes import ENTER, LEAVE, MOVE, Changes


def coalesced(changes: Changes, extras: list[bytes]) -> list[int]:
    """Indices of the changes that remain: at most one per object, none where it ends as it began. O(m log m).

    The last change of an object stands for all of them. Where its op would not fit (an object that left and entered
    again has moved) the op is mended in place.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for i, slot in enumerate(changes.slots.tolist()):
        first.setdefault(slot, i)
        last[slot] = i
    chosen: list[int] = []
    for slot, end in last.items():
        start = first[slot]
        was, stays = changes.ops[start] != ENTER, changes.ops[end] != LEAVE
        if not was and not stays:
            continue
        if was and stays:
            same = changes.ops[start] == LEAVE and (changes.points[start] == changes.points[end]).all()
            if same and extras[start] == extras[end]:
                continue
            changes.ops[end] = MOVE
        elif stays:
            changes.ops[end] = ENTER
        chosen.append(end)
    return sorted(chosen, key=lambda i: (changes.ops[i], changes.keys[i]))
