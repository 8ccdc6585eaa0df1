"""Checks a published skyline against the definition, from everything that was published: no engine involved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deploy.cli.reading import current_members, everything
from skyline.runtime.config import KafkaSettings
from skyline.view import View
from skyline.wire.modify import modified
from skyline.wire.rejects import Rejected
from skyline.wire.updates import Delete, Modification, Tick, Update, Upsert, read_update


@dataclass(frozen=True, slots=True)
class Verdict:
    """Keys that are published but should not be, and the other way round."""

    updates: int
    objects: int
    members: int
    wrong: list[str]
    missing: list[str]

    @property
    def right(self) -> bool:
        return not self.wrong and not self.missing


def verify(kafka: KafkaSettings, view: View) -> Verdict:
    """Recomputes the skyline from all updates, O(objects x members), and compares keys and points."""
    objects, clock, updates = _final_objects(kafka, view)
    live = {key: held for key, held in objects.items() if held.valid_from <= clock < held.valid_until}
    expected = _skyline(view, live)
    published = {key: tuple(member.point.values()) for key, member in current_members(kafka, view).items()}
    wrong = sorted(key for key, point in published.items() if expected.get(key) != point)
    missing = sorted(key for key in expected if key not in published)
    return Verdict(updates, len(live), len(published), wrong, missing)


def _final_objects(kafka: KafkaSettings, view: View) -> tuple[dict[str, Upsert], int, int]:
    objects: dict[str, Upsert] = {}
    clock, updates = 0, 0
    for records in everything(kafka, view.topic("updates")):
        for row in range(len(records)):
            updates += 1
            clock = max(clock, int(records.timestamps[row]))
            result = read_update(view, records.key(row), records.value(row))
            if not isinstance(result, Rejected):
                _follow(view, objects, clock, *result)
    return objects, clock, updates


def _follow(view: View, objects: dict[str, Upsert], clock: int, key: str, update: Update) -> None:
    if isinstance(update, Upsert):
        objects[key] = update
    elif isinstance(update, Delete):
        objects.pop(key, None)
    elif isinstance(update, Modification) and key in objects and objects[key].valid_until > clock:
        result = modified(view, objects[key], update)
        if not isinstance(result, Rejected):
            objects[key] = result
    else:
        assert isinstance(update, (Tick, Modification))


def _skyline(view: View, objects: dict[str, Upsert]) -> dict[str, tuple[float, ...]]:
    groups: dict[str, list[str]] = {}
    for key, held in objects.items():
        groups.setdefault(held.group, []).append(key)
    members: dict[str, tuple[float, ...]] = {}
    for keys in groups.values():
        points = view.dimensions.inward([objects[key].point for key in keys])
        for key, point in zip(keys, points, strict=True):
            dominated = (points <= point).all(axis=1) & (points < point).any(axis=1)
            if not np.any(dominated):
                members[key] = objects[key].point
    return members
