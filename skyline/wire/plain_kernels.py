# mypy: ignore-errors
"""Reads plain updates from a batch of JSON values: flat objects, no escapes, ASCII, each field once.

Everything else (nesting, escapes, "Infinity", $op, mistakes of any kind) is left to skyline/wire/updates.py, which
also finds the words for what is wrong. So a record that is accepted here must be one that orjson accepts, with the
same values; a record that is refused here is only slower.
"""

import numpy as np
from numba import njit

from skyline.wire.decimal_kernels import double_bits

DIMENSION, INSTANT, GROUP, CARRY = 0, 1, 2, 3
_QUOTE, _BACKSLASH, _COMMA, _COLON, _OPEN, _CLOSE, _DOLLAR = 34, 92, 44, 58, 123, 125, 36
_MINUS, _PLUS, _POINT, _ZERO, _NINE = 45, 43, 46, 48, 57
_MANTISSA_DIGITS = 19
_INSTANT_DIGITS = 15


@njit(cache=True, nogil=True, inline="always")
def _skip_space(blob, i, end):
    while i < end and (blob[i] == 32 or blob[i] == 10 or blob[i] == 13 or blob[i] == 9):
        i += 1
    return i


@njit(cache=True, nogil=True, inline="always")
def _string_end(blob, i, end):
    """Index just past the closing quote of the plain string that opens at i, or -1."""
    i += 1
    while i < end:
        c = blob[i]
        if c == _QUOTE:
            return i + 1
        if c == _BACKSLASH or c < 32 or c >= 128:
            return -1
        i += 1
    return -1


@njit(cache=True, nogil=True)
def _number(blob, i, end):
    """(index past the number or -1, is it an integer, digits, bits, ok): `ok` says that bits hold its double."""
    failed = -1, False, 0, np.uint64(0), False
    negative = i < end and blob[i] == _MINUS
    if negative:
        i += 1
    start = i
    mantissa, digits, exponent = np.uint64(0), 0, 0
    while i < end and _ZERO <= blob[i] <= _NINE:
        mantissa = mantissa * np.uint64(10) + np.uint64(blob[i] - _ZERO)
        i += 1
    digits = i - start
    if digits == 0 or (blob[start] == _ZERO and digits > 1):
        return failed
    significant = digits if blob[start] != _ZERO else 0
    integer = True
    if i < end and blob[i] == _POINT:
        integer = False
        i += 1
        first = i
        while i < end and _ZERO <= blob[i] <= _NINE:
            mantissa = mantissa * np.uint64(10) + np.uint64(blob[i] - _ZERO)
            if significant > 0 or blob[i] != _ZERO:
                significant += 1
            i += 1
        if i == first:
            return failed
        exponent = first - i
    if i < end and (blob[i] == 101 or blob[i] == 69):
        integer = False
        i += 1
        down = i < end and blob[i] == _MINUS
        if down or (i < end and blob[i] == _PLUS):
            i += 1
        first, power = i, 0
        while i < end and _ZERO <= blob[i] <= _NINE:
            power = min(power * 10 + (blob[i] - _ZERO), 100_000)
            i += 1
        if i == first:
            return failed
        exponent += -power if down else power
    if significant > _MANTISSA_DIGITS:
        return i, integer, digits, np.uint64(0), False
    bits, ok = double_bits(mantissa, exponent)
    if negative and bits != 0:
        bits = bits | (np.uint64(1) << np.uint64(63))
    return i, integer and not (negative and mantissa == 0), digits, bits, ok


@njit(cache=True, nogil=True)
def _word(blob, i, end):
    """Index past true, false or null at i, or -1."""
    if i + 4 <= end:
        a, b, c, d = blob[i], blob[i + 1], blob[i + 2], blob[i + 3]
        if a == 116 and b == 114 and c == 117 and d == 101:
            return i + 4
        if a == 110 and b == 117 and c == 108 and d == 108:
            return i + 4
        if i + 5 <= end and a == 102 and b == 97 and c == 108 and d == 115 and blob[i + 4] == 101:
            return i + 5
    return -1


@njit(cache=True, nogil=True)
def _scalar_end(blob, i, end):
    if i < end and blob[i] == _QUOTE:
        return _string_end(blob, i, end)
    if i < end and (blob[i] == _MINUS or _ZERO <= blob[i] <= _NINE):
        past, _, _, _, ok = _number(blob, i, end)
        return past if ok else -1  # orjson refuses numbers too large for a double: so it is asked
    return _word(blob, i, end)


@njit(cache=True, nogil=True)
def _field(blob, i, past, names, bounds, hint):
    """Number of the field whose name is blob[i:past], or -1; producers keep their order, so `hint` mostly hits."""
    count = len(bounds) - 1
    for step in range(count):
        f = hint + step
        if f >= count:
            f -= count
        if bounds[f + 1] - bounds[f] == past - i:
            same = True
            for j in range(past - i):
                if blob[i + j] != names[bounds[f] + j]:
                    same = False
                    break
            if same:
                return f
    return -1


@njit(cache=True, nogil=True)
def _integer(blob, i, past):
    negative = blob[i] == _MINUS
    value = 0
    for j in range(i + 1 if negative else i, past):
        value = value * 10 + (blob[j] - _ZERO)
    return -value if negative else value


@njit(cache=True, nogil=True)
def _read_one(blob, i, end, names, bounds, kinds, columns, bits, instants, slices, required):
    """Reads one value into its row; True if it was plain. `bits`: doubles as uint64, -0.0 already 0.0."""
    i = _skip_space(blob, i, end)
    if i >= end or blob[i] != _OPEN:
        return False
    i = _skip_space(blob, i + 1, end)
    seen = np.uint64(0)
    hint = 0
    while True:
        if i >= end or blob[i] != _QUOTE:
            return False
        past = _string_end(blob, i, end)
        if past < 0 or blob[i + 1] == _DOLLAR:
            return False
        field = _field(blob, i + 1, past - 1, names, bounds, hint)
        i = _skip_space(blob, past, end)
        if i >= end or blob[i] != _COLON:
            return False
        i = _skip_space(blob, i + 1, end)
        if field < 0:
            past = _scalar_end(blob, i, end)
        else:
            flag = np.uint64(1) << np.uint64(field)
            if seen & flag != 0:
                return False
            seen = seen | flag
            hint = field + 1
            kind, column = kinds[field], columns[field]
            if kind == DIMENSION:
                past, _, _, value, ok = _number(blob, i, end)
                if not ok:
                    return False
                bits[column] = value
            elif kind == INSTANT:
                past, integer, digits, _, ok = _number(blob, i, end)
                if past < 0 or not integer or digits > _INSTANT_DIGITS:
                    return False
                instants[column] = _integer(blob, i, past)
            elif kind == GROUP:
                if i < end and blob[i] == _QUOTE:
                    past = _string_end(blob, i, end)
                else:
                    past, integer, digits, _, ok = _number(blob, i, end)
                    if past < 0 or not integer or digits > _INSTANT_DIGITS:
                        return False
            else:
                past = _scalar_end(blob, i, end)
            if kind >= GROUP:
                slices[column, 0] = i
                slices[column, 1] = past
        if past < 0:
            return False
        i = _skip_space(blob, past, end)
        if i >= end:
            return False
        if blob[i] == _CLOSE:
            break
        if blob[i] != _COMMA:
            return False
        i = _skip_space(blob, i + 1, end)
    return _skip_space(blob, i + 1, end) == end and seen & required == required


@njit(cache=True, nogil=True)
def read_plain(
    values, value_bounds, value_null, names, bounds, kinds, columns, required, limit, bits, instants, slices
):
    """(n,) bool: which rows were plain. Fills bits (n, d), instants (n, 2) and slices (n, extras, 2). O(bytes)."""
    rows = len(value_null)
    plain = np.zeros(rows, dtype=np.bool_)
    for row in range(rows):
        start, end = value_bounds[row], value_bounds[row + 1]
        if value_null[row] or end - start > limit:
            continue
        plain[row] = (
            _read_one(
                values, start, end, names, bounds, kinds, columns, bits[row], instants[row], slices[row], required
            )
            and instants[row, 0] < instants[row, 1]
        )
    return plain
