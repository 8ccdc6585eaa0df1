# mypy: ignore-errors
"""Decimal text to the nearest double, exactly as a correctly rounded strtod, without leaving compiled code.

The method of Eisel and Lemire ("Number parsing at a gigabyte per second", 2021): the 64-bit decimal mantissa times
a 128-bit truncated power of five gives the binary mantissa, except in rare cases that it notices. Those, subnormal
numbers and overflow are left to the caller's slow path.
"""

import numpy as np
from numba import njit

SMALLEST_POWER = -342
LARGEST_POWER = 308


def _powers_of_five():
    """(high, low) halves of 5**q normalised to 128 bits, for every q a double can need."""
    table = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), dtype=np.uint64)
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        if q < 0:
            power = 5**-q
            bits = power.bit_length() + (0 if power & (power - 1) else -1)
            value = (1 << (bits + 127 if q >= -27 else 2 * bits + 128)) // power + 1
        else:
            value = 5**q << 128
        value >>= value.bit_length() - 128
        table[q - SMALLEST_POWER] = value >> 64, value & (2**64 - 1)
    return table


POWERS = _powers_of_five()
_LOW32 = np.uint64(0xFFFFFFFF)
_PRECISION_MASK = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(55)
_HIDDEN_BIT = np.uint64(1) << np.uint64(52)


@njit(cache=True, nogil=True, inline="always")
def _multiply(a, b):
    """(high, low) of the 128-bit product."""
    s = np.uint64(32)
    a0, a1, b0, b1 = a & _LOW32, a >> s, b & _LOW32, b >> s
    p00, p01, p10, p11 = a0 * b0, a0 * b1, a1 * b0, a1 * b1
    middle = (p00 >> s) + (p01 & _LOW32) + (p10 & _LOW32)
    return p11 + (p01 >> s) + (p10 >> s) + (middle >> s), (p00 & _LOW32) | (middle << s)


@njit(cache=True, nogil=True, inline="always")
def _leading_zeros(w):
    count = 0
    for shift in (32, 16, 8, 4, 2, 1):
        if w >> np.uint64(64 - shift) == 0:
            count += shift
            w = w << np.uint64(shift)
    return count


@njit(cache=True, nogil=True)
def double_bits(w, q):
    """(bits, ok) of w * 10**q for a uint64 w; ok is False where the caller must ask a slower parser."""
    none = np.uint64(0)
    if w == 0:
        return none, True
    if q < SMALLEST_POWER or q > LARGEST_POWER:
        return none, False
    zeros = _leading_zeros(w)
    w = w << np.uint64(zeros)
    high, low = _multiply(w, POWERS[q - SMALLEST_POWER, 0])
    if high & _PRECISION_MASK == _PRECISION_MASK:
        more, _ = _multiply(w, POWERS[q - SMALLEST_POWER, 1])
        low = low + more
        if more > low:
            high = high + np.uint64(1)
    if low == np.uint64(0xFFFFFFFFFFFFFFFF) and (q < -27 or q > 55):
        return none, False
    upper = high >> np.uint64(63)
    shift = upper + np.uint64(9)
    mantissa = high >> shift
    power = ((217706 * q) >> 16) + 63 + np.int64(upper) - zeros + 1023
    if power <= 0:
        return none, False
    halfway = low <= np.uint64(1) and -4 <= q <= 23 and mantissa & np.uint64(3) == np.uint64(1)
    if halfway and mantissa << shift == high:
        mantissa = mantissa & ~np.uint64(1)
    mantissa = (mantissa + (mantissa & np.uint64(1))) >> np.uint64(1)
    if mantissa >= _HIDDEN_BIT << np.uint64(1):
        mantissa = _HIDDEN_BIT
        power += 1
    if power >= 0x7FF:
        return none, False
    return (mantissa & ~_HIDDEN_BIT) | (np.uint64(power) << np.uint64(52)), True
