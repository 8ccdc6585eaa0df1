"""Event time 0 and before: librdkafka reads a timestamp of 0 as "now", which no replay could repeat."""

from __future__ import annotations

import pytest

from maintainer.state import new_state
from skyline.view import View
from skyline.wire.changes import read_change
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records


@pytest.mark.parametrize("at", [-5, 0, 1, 7])
def test_no_record_leaves_its_time_to_the_wall_clock(at: int) -> None:
    view = View.of("early", {"dimensions": {"price": "min"}})
    rows = [(b"a", b'{"price": 1}', at, 0), (b"b", b"broken", at, 1)]
    output = new_state(view).apply(UpdateDecoder(view).decode(Records.of(rows)))
    assert [record.topic for record in output.records] == ["early.changes", "early.skyline", "early.rejected"]
    assert [record.timestamp for record in output.records] == [max(1, at)] * 3
    assert read_change(output.records[0].value or b"").at == at
