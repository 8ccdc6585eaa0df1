"""Random logs of updates that run into every corner: ties, duplicates, infinities, reused keys, intervals, groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skyline import Skyline
from skyline.live import Change
from skyline.view import NEVER
from tests.live.model import BEGINNING, Model

COORDINATES = (0.0, -0.0, 1.0, 2.0, 3.0, 3.5, -1.0, float("inf"), float("-inf"))
"""Few values, so that ties, duplicates and equal sums are common."""


@dataclass(frozen=True)
class Row:
    key: Any
    point: tuple[float, ...]
    deleted: bool
    at: int
    valid_from: int
    valid_until: int
    group: Any
    touched: bool


@dataclass(frozen=True)
class Log:
    directions: list[str]
    rows: list[Row]


def random_log(seed: int, rows: int, *, keys: int = 12, kind: type = str, dimensions: int | None = None) -> Log:
    """A seeded log over so many keys. Time stands still often, and sometimes leaps."""
    rng = np.random.default_rng(seed)
    d = dimensions or int(rng.integers(1, 9))
    directions = [str(rng.choice(["min", "max"])) for _ in range(d)]
    names = [_key(kind, i) for i in range(keys)]
    groups = [None, "a", ("a", 1), 7][: int(rng.integers(1, 5))]
    coordinates = COORDINATES if rng.random() < 0.6 else tuple(np.round(rng.random(50), 2))
    timed = rng.random() < 0.7
    at, log = 0, []
    for _ in range(rows):
        at += int(rng.choice([0, 0, 0, 1, 1, 2, 9]))
        start = at + int(rng.integers(-3, 6)) if timed and rng.random() < 0.2 else BEGINNING
        end = at + int(rng.integers(-1, 14)) if timed and rng.random() < 0.6 else NEVER
        log.append(
            Row(
                key=names[int(rng.integers(keys))],
                point=tuple(float(rng.choice(coordinates)) for _ in range(d)),
                deleted=bool(rng.random() < 0.15),
                at=at,
                valid_from=start,
                valid_until=end,
                group=groups[int(rng.integers(len(groups)))],
                touched=bool(rng.random() < 0.1),
            )
        )
    return Log(directions, log)


def _key(kind: type, i: int) -> Any:
    """Keys whose order is neither that of their numbers nor of their lengths."""
    text = ["é", "z", "aa", "a", "", "😀", "ab"][i % 7] + str(i * 37 % 101)
    return i * 37 % 101 - 50 if kind is int else text if kind is str else text.encode()


def apply_rows(live: Skyline, rows: list[Row]) -> list[Change]:
    """Applies rows as one batch."""
    return list(
        live.apply(
            [row.key for row in rows],
            [row.point for row in rows],
            deleted=[row.deleted for row in rows],
            valid_until=[row.valid_until for row in rows],
            at=[row.at for row in rows],
            valid_from=[row.valid_from for row in rows],
            groups=[row.group for row in rows],
            touched=[row.touched for row in rows],
        )
    )


def expected_changes(model: Model, rows: list[Row], first_row: int = 0) -> list[Change]:
    """What the model says these rows do, numbered from `first_row`."""
    changes = []
    for number, row in enumerate(rows, first_row):
        changes += model.apply_row(
            number,
            row.key,
            row.point,
            deleted=row.deleted,
            at=row.at,
            valid_from=row.valid_from,
            valid_until=row.valid_until,
            group=row.group,
            touched=row.touched,
        )
    return changes
