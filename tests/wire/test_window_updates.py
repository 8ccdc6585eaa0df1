"""Updates of window views: the batch decoder says the same as the reference reader, keyless ones included."""

from __future__ import annotations

from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from skyline.wire.rejects import Rejected
from skyline.wire.updates import Tick, Upsert, read_update
from tests.maintainer.window_rows import window_updates

VIEW = View.of("trades", {"dimensions": {"price": "min", "rating": "max"}, "carry": ["name"], "window": {"size": 10}})


def test_batches_and_single_updates_agree():
    rows = window_updates(9, 2000)
    records = Records.of([(*row, offset) for offset, row in enumerate(rows)])
    decoded = UpdateDecoder(VIEW).decode(records)
    rejected, ticks = {}, []
    for row, (key, value, _) in enumerate(rows):
        result = read_update(VIEW, key, value)
        if isinstance(result, Rejected):
            rejected[row] = result
        elif isinstance(result[1], Tick):
            ticks.append(row)
        else:
            name, update = result
            assert isinstance(update, Upsert)
            assert decoded.keys[row] == name == (key or b"").decode()
            assert tuple(decoded.points[row]) == update.point
            assert decoded.extras is not None
            assert decoded.extras[row] == update.extras
    assert decoded.rejected == rejected == UpdateDecoder(VIEW).rejects(records)
    assert sorted(decoded.ticks) == ticks
    assert not decoded.deleted.any()
    assert not decoded.modifications
    assert {reject.reason for reject in rejected.values()} >= {"bad_op", "bad_interval", "bad_json"}


def test_a_view_without_a_window_still_needs_keys():
    keyed = View.of("hotels", {"dimensions": {"price": "min"}})
    decoded = UpdateDecoder(keyed).decode(Records.of([(None, b'{"price":1}', 1, 0), (b"", b'{"price":1}', 1, 1)]))
    assert [decoded.rejected[row].reason for row in (0, 1)] == ["bad_key", "bad_key"]
