"""Updates for window views, with everything that can be among them."""

from __future__ import annotations

import random

import orjson

from tests.maintainer.window_oracle import Row

START = 1_700_000_000_000


def window_updates(seed: int, count: int, values: int = 30) -> list[Row]:
    """Keyless and keyed appends, keys that come again, ticks, rejects of every kind, time that stands and goes back."""
    rng = random.Random(seed)
    rows: list[Row] = []
    now = START
    for number in range(count):
        now += rng.choice([0, 0, 1, 1, 5])
        key = rng.choice([None, b"", b"a", b"b", "ü".encode(), f"k{number}".encode()])
        fields = {
            "price": rng.randrange(values),
            "rating": rng.choice([rng.randrange(values), rng.random(), "Infinity"]),
            "name": rng.choice(["x", "y", None]),
        }
        value: bytes | None = orjson.dumps(fields)
        kind = rng.random()
        if kind < 0.03:
            value = None
        elif kind < 0.05:
            value = orjson.dumps({"$op": "add", "price": 1})
        elif kind < 0.07:
            value = orjson.dumps({**fields, "valid_until": now + 5})
        elif kind < 0.09:
            value = b"{nonsense"
        elif kind < 0.15:
            key, value = b"$tick", None
        rows.append((key, value, now - rng.choice([0, 0, 0, 3])))
    return rows
