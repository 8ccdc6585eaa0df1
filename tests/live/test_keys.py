"""The tables of keys against a dict: reuse, growth, collisions, compaction, dump and load, for every kind of key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyline.live.byte_keys import ByteKeys
from skyline.live.int_keys import IntKeys
from skyline.live.keys import Bytes, Keys
from skyline.live.keys_kernels import bytes_tag, int_tag, key_before
from skyline.view import Ints
from tests.live.conftest import Make

KINDS: dict[str, Callable[[], Keys]] = {
    "int": IntKeys,
    "str": lambda: ByteKeys("str"),
    "bytes": lambda: ByteKeys("bytes"),
}
SEED = np.uint64(12345)


def key_of(kind: str, number: int) -> Any:
    """Keys of many lengths, text not only in ASCII, integers of both signs and all sizes."""
    if kind == "int":
        return (number * 0x9E3779B97F4A7C15) % 2**64 - 2**63
    text = "é€"[number % 2] * (number % 5) + str(number)
    return text if kind == "str" else text.encode()


def assign(keys: Keys, names: list[Any], wanted: list[bool] | None = None) -> tuple[Ints, Ints]:
    return keys.assign(keys.rows(names), np.array([True] * len(names) if wanted is None else wanted, np.bool_))


class Mirror:
    """A table of keys and the dict that it must agree with."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.keys = KINDS[kind]()
        self.slots: dict[Any, int] = {}

    def add(self, numbers: list[int], wanted: list[bool]) -> None:
        names = [key_of(self.kind, number) for number in numbers]
        before = dict(self.slots)
        slots, new = assign(self.keys, names, wanted)
        for name, slot, want in zip(names, slots.tolist(), wanted, strict=True):
            if name not in self.slots and want:
                assert slot not in self.slots.values()
                self.slots[name] = slot
            assert slot == self.slots.get(name, -1)
        assert sorted(new.tolist()) == sorted(set(self.slots.values()) - set(before.values()))

    def drop(self, numbers: set[int]) -> None:
        names = [name for number in sorted(numbers) if (name := key_of(self.kind, number)) in self.slots]
        self.keys.release(np.array([self.slots.pop(name) for name in names], np.int64))

    def check(self) -> None:
        self.keys._check()
        names = list(self.slots)
        assert self.keys.find(self.keys.rows(names)).tolist() == list(self.slots.values())
        assert self.keys.take(list(self.slots.values())) == names
        assert len(self.keys) == len(names)
        assert sorted(self.slots.values()) == self.keys.taken().tolist()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=100)
@given(steps=st.lists(st.tuples(st.lists(st.integers(0, 60), max_size=40), st.booleans(), st.booleans()), max_size=12))
def test_a_table_does_what_a_dict_does(kind: str, steps: list[tuple[list[int], bool, bool]]) -> None:
    mirror = Mirror(kind)
    for numbers, adds, every_other in steps:
        if adds:
            mirror.add(numbers, [not every_other or i % 2 == 0 for i in range(len(numbers))])
        else:
            mirror.drop(set(numbers))
        mirror.check()


@pytest.mark.parametrize("kind", KINDS)
def test_tables_grow_and_reuse_their_slots_through_dump_and_load(kind: str) -> None:
    rng = np.random.default_rng(1)
    mirror = Mirror(kind)
    for _ in range(20):
        numbers = rng.integers(0, 6000, 1500).tolist()
        mirror.add(numbers, [True] * len(numbers))
        mirror.drop(set(rng.integers(0, 6000, 2000).tolist()))
        loaded = KINDS[kind]()
        loaded.load(mirror.keys.dump())
        mirror.keys = loaded
        mirror.check()
    assert mirror.keys.slots < 6000 + 1500


def test_the_bytes_of_released_keys_are_used_again() -> None:
    keys = ByteKeys("str")
    for turn in range(200):
        slots, _ = assign(keys, [f"{turn}-{i}-{'x' * 50}" for i in range(20)])
        keys.release(slots)
    keys._check()
    assert len(keys._arena) < 20 * 60 * 8


def colliding(tags: Callable[[int], int], among: int) -> list[list[int]]:
    """Numbers whose keys have the same 31-bit tag."""
    found: dict[int, list[int]] = {}
    for number in range(among):
        found.setdefault(tags(number), []).append(number)
    return [numbers for numbers in found.values() if len(numbers) > 1]


@pytest.mark.parametrize("kind", KINDS)
def test_keys_with_the_same_hash_are_told_apart(kind: str) -> None:
    def tag(number: int) -> int:
        key = key_of(kind, number)
        if kind == "int":
            return int(int_tag(SEED, np.int64(key)))
        data = np.frombuffer(key.encode() if kind == "str" else key, np.uint8)
        return int(bytes_tag(SEED, data, 0, len(data)))

    groups = colliding(tag, 150_000)
    assert groups, "about five pairs are expected"
    mirror = Mirror(kind)
    mirror.keys._seed = SEED
    for numbers in groups:
        mirror.add(numbers, [True] * len(numbers))
        mirror.check()
        mirror.drop({numbers[0]})
        mirror.check()
        mirror.add([numbers[0]], [False])
        mirror.add([numbers[0]], [True])
    mirror.check()


@pytest.mark.parametrize("kind", KINDS)
def test_runs_that_wrap_around_the_end_of_the_table_survive_erasure(kind: str) -> None:
    """The home of each of these is one of the last four places of the smallest table, so that runs wrap around."""
    mirror = Mirror(kind)
    mirror.keys._seed = SEED
    numbers = [n for n in range(2000) if _home(kind, n) >= 60][:30]
    for first in range(0, 30, 3):
        mirror.add(numbers, [True] * len(numbers))
        mirror.drop(set(numbers[first::4]))
        mirror.check()
    assert len(mirror.keys._table) == 64


def _home(kind: str, number: int) -> int:
    key = key_of(kind, number)
    if kind == "int":
        return int(int_tag(SEED, np.int64(key))) & 63
    data = np.frombuffer(key.encode() if kind == "str" else key, np.uint8)
    return int(bytes_tag(SEED, data, 0, len(data))) & 63


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_slots_is_that_of_keys(kind: str) -> None:
    names = [key_of(kind, number) for number in range(60)]
    if kind != "int":
        names += ["", "a", "ab", "z", "\U0001f600", "\uffff"] if kind == "str" else [b"", b"a", b"ab", b"\xff", b"\0"]
    keys = KINDS[kind]()
    slots, _ = assign(keys, names)
    order = keys.order()
    for a, left in zip(slots.tolist(), names, strict=True):
        for b, right in zip(slots.tolist(), names, strict=True):
            assert key_before(order, a, b) == (left < right)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7c2117634fd77c2259be0318d1fc41e9", "783f3b6f43675d3e3e6e0e68527a43eb"),
        ("806119a0e9af60c98201294287321b00", "812e006cd0cbe9bb791b214470293239"),
        ("fa29e3bd47d1dab351d00315bb15fe93", "f1376397c451b388b3f21b71fceccc91"),
    ],
)
def test_keys_that_collide_by_the_factor_of_fnv_do_not_here(one: str, other: str) -> None:
    """By a factor that is known, these have one hash from every start that ends in 0x39."""
    pair = [np.frombuffer(bytes.fromhex(key), np.uint8) for key in (one, other)]
    for upper in range(20):
        start = (upper * 0x9E3779B97F4A7C15 & 2**64 - 256) + 0x39
        assert _fnv(start, pair[0]) == _fnv(start, pair[1])
        tags = [int(bytes_tag(np.uint64(start), data, 0, 16)) for data in pair]
        assert tags[0] != tags[1]


def _fnv(start: int, data: Bytes) -> int:
    for byte in data.tolist():
        start = (start ^ byte) * 0x100000001B3 % 2**64
    return start


def test_the_secret_of_the_hash_does_not_show() -> None:
    """Two tables hash differently, and give the same slots."""
    one, other = ByteKeys("str"), ByteKeys("str")
    assert one._seed != other._seed
    names = [f"k{i}" for i in range(500)]
    assert np.array_equal(assign(one, names)[0], assign(other, names)[0])
    one.release(np.arange(0, 500, 3))
    other.release(np.arange(0, 500, 3))
    assert np.array_equal(assign(one, names)[0], assign(other, names)[0])


@pytest.mark.parametrize(
    ("given_keys", "kept"),
    [
        (np.array([3, -4], np.int32), [3, -4]),
        (np.array([3, 4], np.uint64), [3, 4]),
        (np.array([3, 4], ">i8"), [3, 4]),
        (np.array([3, 0, 4, 0])[::2], [3, 4]),
        (np.array([3, 4], object), [3, 4]),
        ([np.int16(3), 4], [3, 4]),
        (range(3, 5), [3, 4]),
        (np.array(["é", "bb"]), ["é", "bb"]),
        (np.array(["é", "bb"], object), ["é", "bb"]),
        ([np.str_("é"), "bb"], ["é", "bb"]),
        ({"é": 0, "bb": 0}.keys(), ["é", "bb"]),
        (np.array([b"a", b"bb"]), [b"a", b"bb"]),
        ([b"a", bytearray(b"bb")], [b"a", b"bb"]),
    ],
)
def test_keys_come_in_any_sequence_and_go_out_as_plain_values(make: Make, given_keys: Any, kept: list[Any]) -> None:
    live = make(["min"])
    live.apply(given_keys, [[1], [1]])
    assert sorted(live.members(), key=kept.index) == kept
    assert [type(key) for key in live.members()] == [type(kept[0])] * 2
    assert live.slots(given_keys).tolist() == live.slots(kept).tolist()
