# mypy: ignore-errors
"""A hash table from keys to slots, in flat arrays: open addressing, linear probing, deletion by backward shift.

table[i] is -1 (empty) or (tag << 32) | slot, where tag is a 31-bit hash of the key and tag & mask its home. Tags let
the table grow and shrink without looking at keys. Integer keys lie in `ints` by slot; text and bytes in `arena`,
at starts[slot] with lengths[slot] bytes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_TAG = np.uint64(0x7FFFFFFF)
_SHIFT = np.uint64(33)
_FACTOR_1 = np.uint64(0xFF51AFD7ED558CCD)
_FACTOR_2 = np.uint64(0xC4CEB9FE1A85EC53)
_ODD = np.uint64(1)
_SLOT = np.int64(0xFFFFFFFF)


@njit(cache=True)
def _mixed(h):
    """murmur3's finaliser: every bit of h reaches every bit of the tag."""
    h = (h ^ (h >> _SHIFT)) * _FACTOR_1
    h = (h ^ (h >> _SHIFT)) * _FACTOR_2
    return np.int64((h ^ (h >> _SHIFT)) & _TAG)


@njit(cache=True)
def int_tag(seed, key):
    return _mixed(np.uint64(key) ^ seed)


@njit(cache=True)
def bytes_tag(seed, data, start, end):
    """FNV-1a from a secret start, by a secret factor, then mixed.

    By FNV's own factor, keys could be worked out that collide from one start in 256, whatever the rest of the secret.
    """
    h, factor = seed, (seed * _FACTOR_1) | _ODD
    for i in range(start, end):
        h = (h ^ np.uint64(data[i])) * factor
    return _mixed(h)


@njit(cache=True)
def _equal(arena, start, length, data, other, end):
    if length != end - other:
        return False
    for i in range(length):  # noqa: SIM110 (numba compiles loops only)
        if arena[start + i] != data[other + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def find_ints(table, ints, seed, keys, out):
    """out[i] = slot of keys[i], or -1; gives how many are unknown. O(1) each."""
    mask = len(table) - 1
    unknown = 0
    for i in range(len(keys)):
        tag = int_tag(seed, keys[i])
        place = tag & mask
        out[i] = -1
        while table[place] >= 0:
            slot = table[place] & _SLOT
            if ints[slot] == keys[i]:
                out[i] = slot
                break
            place = (place + 1) & mask
        unknown += out[i] < 0
    return unknown


@njit(cache=True, nogil=True)
def find_bytes(table, arena, starts, lengths, seed, data, ends, out):
    """The same for keys that lie in `data`, keys[i] before ends[i]. O(length of the key) each."""
    mask = len(table) - 1
    unknown = 0
    begin = 0
    for i in range(len(ends)):
        end = ends[i]
        tag = bytes_tag(seed, data, begin, end)
        place = tag & mask
        out[i] = -1
        while table[place] >= 0:
            entry = table[place]
            slot = entry & _SLOT
            if entry >> 32 == tag and _equal(arena, starts[slot], lengths[slot], data, begin, end):
                out[i] = slot
                break
            place = (place + 1) & mask
        unknown += out[i] < 0
        begin = end
    return unknown


@njit(cache=True)
def place(table, tag, slot):
    """Enters a key that is not there."""
    mask = len(table) - 1
    at = tag & mask
    while table[at] >= 0:
        at = (at + 1) & mask
    table[at] = (tag << 32) | slot


@njit(cache=True)
def rehash(table, larger):
    """Enters every entry of `table` into the empty `larger`."""
    for i in range(len(table)):
        if table[i] >= 0:
            place(larger, table[i] >> 32, table[i] & _SLOT)


@njit(cache=True)
def _erase(table, tag, slot):
    """Takes out an entry and moves later ones of its run back, so that no run is ever broken."""
    mask = len(table) - 1
    hole = tag & mask
    while table[hole] != (tag << 32) | slot:
        hole = (hole + 1) & mask
    at = hole
    while True:
        at = (at + 1) & mask
        if table[at] < 0:
            break
        home = (table[at] >> 32) & mask
        if ((at - home) & mask) >= ((at - hole) & mask):
            table[hole] = table[at]
            hole = at
    table[hole] = -1


@njit(cache=True, nogil=True)
def erase_ints(table, ints, seed, slots):
    for slot in slots:
        _erase(table, int_tag(seed, ints[slot]), slot)


@njit(cache=True, nogil=True)
def erase_bytes(table, arena, starts, lengths, seed, slots):
    for slot in slots:
        _erase(table, bytes_tag(seed, arena, starts[slot], starts[slot] + lengths[slot]), slot)


@njit(cache=True)
def _next_slot(free, counts):
    """counts: slots ever used, length of the stack of free ones."""
    if counts[1] > 0:
        counts[1] -= 1
        return free[counts[1]]
    counts[0] += 1
    return counts[0] - 1


@njit(cache=True, nogil=True)
def add_ints(table, ints, seed, keys, wanted, free, counts, out, new):
    """Gives slots to the unknown keys of wanted rows, row by row; new[:result] lists them.

    A row that is not wanted finds its key if an earlier row brought it.
    """
    mask = len(table) - 1
    added = 0
    for i in range(len(keys)):
        if out[i] >= 0:
            continue
        tag = int_tag(seed, keys[i])
        at = tag & mask
        while table[at] >= 0 and ints[table[at] & _SLOT] != keys[i]:
            at = (at + 1) & mask
        if table[at] < 0 and wanted[i]:
            slot = _next_slot(free, counts)
            ints[slot] = keys[i]
            table[at] = (tag << 32) | slot
            new[added] = slot
            added += 1
        if table[at] >= 0:
            out[i] = table[at] & _SLOT
    return added


@njit(cache=True, nogil=True)
def add_bytes(table, arena, starts, lengths, used, seed, data, ends, wanted, free, counts, out, new):
    """The same for bytes: the arena has room for all of them from `used` on. Gives (added, used)."""
    mask = len(table) - 1
    added = 0
    begin = 0
    for i in range(len(ends)):
        end = ends[i]
        if out[i] < 0:
            tag = bytes_tag(seed, data, begin, end)
            at = tag & mask
            while table[at] >= 0:
                slot = table[at] & _SLOT
                if table[at] >> 32 == tag and _equal(arena, starts[slot], lengths[slot], data, begin, end):
                    break
                at = (at + 1) & mask
            if table[at] < 0 and wanted[i]:
                slot = _next_slot(free, counts)
                starts[slot] = used
                lengths[slot] = end - begin
                arena[used : used + end - begin] = data[begin:end]
                used += end - begin
                table[at] = (tag << 32) | slot
                new[added] = slot
                added += 1
            if table[at] >= 0:
                out[i] = table[at] & _SLOT
        begin = end
    return added, used


@njit(cache=True, nogil=True)
def gather(arena, starts, lengths, slots, out, ends):
    """Copies the keys of `slots` one after the other into `out`; ends[i] is where the i-th ends."""
    used = 0
    for i in range(len(slots)):
        start, length = starts[slots[i]], lengths[slots[i]]
        out[used : used + length] = arena[start : start + length]
        used += length
        ends[i] = used


@njit(cache=True)
def key_before(order, a, b):
    """Whether the key of slot a comes before that of slot b. `order` is `Keys.order()`."""
    if len(order.ints) > 0:
        return order.ints[a] < order.ints[b]
    x, y = order.starts[a], order.starts[b]
    shorter = min(order.lengths[a], order.lengths[b])
    for i in range(shorter):
        if order.arena[x + i] != order.arena[y + i]:
            return order.arena[x + i] < order.arena[y + i]
    return order.lengths[a] < order.lengths[b]


@njit(cache=True)
def enter_ints(table, ints, seed, slots):
    """Enters the keys of these slots into a table that has none of them."""
    for slot in slots:
        place(table, int_tag(seed, ints[slot]), slot)


@njit(cache=True)
def enter_bytes(table, arena, starts, lengths, seed, slots):
    for slot in slots:
        place(table, bytes_tag(seed, arena, starts[slot], starts[slot] + lengths[slot]), slot)
