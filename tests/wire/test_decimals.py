"""The decimal kernel gives exactly what float() gives, or says that it does not know."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.wire.decimal_kernels import LARGEST_POWER, SMALLEST_POWER, double_bits
from skyline.wire.plain_kernels import _number

decimals = st.from_regex(r"-?[0-9]{1,25}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
finite = st.floats(allow_nan=False, allow_infinity=False)


def _bits(value: float) -> int:
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return bits


@settings(max_examples=1000)
@given(st.one_of(finite.map(repr), decimals))
def test_text_is_read_to_the_last_bit(text: str) -> None:
    blob = np.frombuffer(text.encode() + b",", dtype=np.uint8)
    past, _, _, bits, ok = _number(blob, 0, len(blob))
    digits = text.lstrip("-")
    leading_zero = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    assert (past < 0) == leading_zero
    if ok:
        assert past == len(text)
        assert int(bits) == _bits(float(text) + 0.0)


@settings(max_examples=1000)
@given(st.integers(1, 2**64 - 1), st.integers(SMALLEST_POWER - 5, LARGEST_POWER + 5))
def test_mantissa_and_power_give_the_nearest_double(mantissa: int, power: int) -> None:
    bits, ok = double_bits(np.uint64(mantissa), power)
    expected = float(f"{mantissa}e{power}")
    if ok:
        assert int(bits) == _bits(expected)
    else:
        extreme = math.isinf(expected) or expected < 2.0**-1021 or not SMALLEST_POWER <= power <= LARGEST_POWER
        assert extreme or not -27 <= power <= 55  # the cases that the method leaves to a slower parser


@settings(max_examples=500)
@given(finite.filter(lambda value: 1e-200 < abs(value) < 1e200))
def test_halfway_cases_round_to_even(value: float) -> None:
    """Exactly between two neighbours, cut to the 19 digits that the kernel reads."""
    low, high = sorted((abs(value), math.nextafter(abs(value), math.inf)))
    middle = (Fraction(low) + Fraction(high)) / 2
    power = math.floor(math.log10(middle)) - 18
    for mantissa in (int(middle / Fraction(10) ** power) + step for step in (-1, 0, 1)):
        if 0 < mantissa < 2**64:
            bits, ok = double_bits(np.uint64(mantissa), power)
            assert not ok or int(bits) == _bits(float(f"{mantissa}e{power}"))


def test_exact_halves_of_large_integers_round_to_even() -> None:
    for base in (2**53, 2**54, 2**60, 2**63):
        step = base >> 53
        for mantissa in range(base + step, base + 40 * step, max(1, step)):
            bits, ok = double_bits(np.uint64(mantissa), 0)
            assert ok
            assert int(bits) == _bits(float(mantissa))
