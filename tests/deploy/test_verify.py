"""What the demo checks: a published skyline that differs in anything is found out."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from deploy.cli.verify import verify
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import ensure_topics
from skyline.view import View
from skyline.wire.changes import ChangeWriter
from skyline.wire.updates import Upsert, read_fields
from tests.ingest.harness import view_of
from tests.maintainer.harness import publish

pytestmark = pytest.mark.kafka
AT = 1_700_000_000_000
HOTELS: dict[str, dict[str, Any]] = {
    "cheap": {"price": 1, "rating": 1, "city": "Rome", "name": "A"},
    "good": {"price": 5, "rating": 5, "city": "Rome", "name": None},
    "poor": {"price": 6, "rating": 1, "city": "Rome", "name": "C"},
    "alone": {"price": 9, "rating": 0, "city": "Oslo", "name": "D"},
    "over": {"price": 0, "rating": 9, "city": "Rome", "name": "E", "valid_until": AT + 5},
}
MEMBERS = {key: HOTELS[key] for key in ("cheap", "good", "alone")}


def _member(view: View, key: str, fields: dict[str, Any]) -> bytes:
    held = read_fields(view, fields)
    assert isinstance(held, Upsert)
    return ChangeWriter(view).member(1, key, held.point, held.extras, AT, 0)


@pytest.mark.parametrize(
    ("published", "wrong", "missing"),
    [
        (MEMBERS, [], []),
        ({**MEMBERS, "poor": HOTELS["poor"]}, ["poor"], []),
        ({**MEMBERS, "over": HOTELS["over"]}, ["over"], []),
        ({**MEMBERS, "nobody": HOTELS["good"]}, ["nobody"], []),
        ({key: MEMBERS[key] for key in ("cheap", "alone")}, [], ["good"]),
        ({**MEMBERS, "good": {**HOTELS["good"], "price": 5.5}}, ["good"], []),
        ({**MEMBERS, "good": {**HOTELS["good"], "city": "Oslo"}}, ["good"], []),
        ({**MEMBERS, "good": {**HOTELS["good"], "name": "B"}}, ["good"], []),
        ({}, [], ["alone", "cheap", "good"]),
    ],
)
def test_whatever_differs_is_named(
    published: dict[str, dict[str, Any]], wrong: list[str], missing: list[str], kafka: KafkaSettings, unique: str
) -> None:
    view = view_of(unique)
    ensure_topics(kafka, view)
    updates = [(key.encode(), orjson.dumps(fields), AT) for key, fields in HOTELS.items()]
    publish(kafka, view.topic("updates"), [*updates, (b"$tick", None, AT + 10)])
    members = [(key.encode(), _member(view, key, fields), AT) for key, fields in published.items()]
    if members:
        publish(kafka, view.topic("skyline"), members)
    verdict = verify(kafka, view)
    assert (verdict.wrong, verdict.missing) == (wrong, missing)
    assert verdict.right is (not wrong and not missing)
    assert (verdict.updates, verdict.objects, verdict.members) == (6, 4, len(published))
