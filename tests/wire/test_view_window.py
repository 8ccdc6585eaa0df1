"""A view's window fed with its updates: elements by name, any stretch, through dumps and loads."""

from __future__ import annotations

from typing import Any

import pytest

from skyline.view import View
from skyline.wire.decode import UpdateDecoder
from skyline.wire.records import Records
from skyline.wire.view_window import ViewWindow
from tests.maintainer import window_oracle
from tests.maintainer.window_rows import window_updates
from tests.window import oracle

STRETCHES = [(1, 1), (1, 7), (1, 30), (3, 8), (12, 30), (30, 30)]


def view_of(window: dict[str, Any]) -> View:
    return View.of("trades", {"dimensions": {"price": "min", "rating": "max"}, "carry": ["name"], "window": window})


def stretch(view: View, rows: list[window_oracle.Row], n1: int, n2: int) -> list[str]:
    stream = window_oracle.stream_of(view, rows)
    assert view.window is not None
    timed, now = stream.timed, stream.clocks[-1]
    if view.window.size is not None:
        timed, now = list(enumerate(stream.points)), len(stream.points) - 1
    return [stream.keys[position] for position in oracle.stretch(timed, now, n1, n2)]


@pytest.mark.parametrize("window", [{"size": 30}, {"span": 30}], ids=str)
def test_every_stretch_by_name(window):
    view, rows = view_of(window), window_updates(12, 900)
    held, decoder = ViewWindow(view, history=True), UpdateDecoder(view)
    for start in range(0, len(rows), 90):
        numbered = [(*row, start + i) for i, row in enumerate(rows[start : start + 90])]
        held.apply(decoder.decode(Records.of(numbered)))
        held.forget()
        if start % 270 == 0:
            held = ViewWindow.load(view, held.dump())
        seen = rows[: start + 90]
        assert held.position == len(seen)
        assert held.clock == max(at for _, _, at in seen)
        for n1, n2 in STRETCHES:
            assert [element.key for element in held.between(n1, n2)] == stretch(view, seen, n1, n2)
        assert [element.key for element in held.last(7)] == stretch(view, seen, 1, 7)


def test_elements_are_as_they_were_sent():
    view = view_of({"size": 3})
    held = ViewWindow(view)
    records = Records.of([(b"deal", b'{"price":2,"rating":"-Infinity","name":{"of":"x"}}', 5, 17)])
    held.apply(UpdateDecoder(view).decode(records))
    [element] = held.last(3)
    assert element == ("deal@17", (2.0, float("-inf")), b',"carry":{"name":{"of":"x"}}', 0, 17)
