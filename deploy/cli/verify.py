"""Checks a published skyline against the definition, from everything that was published: no engine involved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

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
    """Recomputes the skyline from all updates, O(objects x members), and compares all that is said of each member."""
    objects, clock, updates = _final_objects(kafka, view)
    live = {key: held for key, held in objects.items() if held.valid_from <= clock < held.valid_until}
    expected = {key: _as_published(view, live[key]) for key in _members(view, live)}
    published = {
        key: (member.point, member.group, member.carry) for key, member in current_members(kafka, view).items()
    }
    wrong = sorted(key for key, member in published.items() if expected.get(key) != member)
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


def _as_published(view: View, held: Upsert) -> tuple[dict[str, float], dict[str, Any], dict[str, Any]]:
    """(point, group, carried fields) as a member's record has them."""
    extras = orjson.loads(b"{" + held.extras.removeprefix(b",") + b"}")
    point = dict(zip(view.dimensions.names, held.point, strict=True))
    return point, extras.get("group", {}), extras.get("carry", {})


def _members(view: View, objects: dict[str, Upsert]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for key, held in objects.items():
        groups.setdefault(held.group, []).append(key)
    members: list[str] = []
    for keys in groups.values():
        points = view.dimensions.inward([objects[key].point for key in keys])
        for key, point in zip(keys, points, strict=True):
            dominated = (points <= point).all(axis=1) & (points < point).any(axis=1)
            if not np.any(dominated):
                members.append(key)
    return members
