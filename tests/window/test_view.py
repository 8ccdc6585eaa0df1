"""Windows in views.toml: their watches, the topics of these, and what a window view does not have."""

from __future__ import annotations

from typing import Any

import pytest

from skyline.errors import InvalidInput
from skyline.view import View, Window, views_of

BASE: dict[str, Any] = {"dimensions": {"price": "min"}}


def view_of(window: Any, **more: Any) -> View:
    return View.of("trades", {**BASE, "window": window, **more})


def test_watches_have_topics_beside_the_changes():
    view = view_of({"size": 1_000_000, "watch": [1000, 10_000]})
    assert view.watch_kinds == {1000: "changes.last-1000", 10_000: "changes.last-10000"}
    assert [view.topic(kind) for kind in view.kinds[4:]] == ["trades.changes.last-1000", "trades.changes.last-10000"]
    renamed = view_of({"size": 10, "watch": [1]}, changes="elsewhere")
    assert renamed.topic("changes.last-1") == "elsewhere.last-1"
    assert View.of("hotels", BASE).kinds == ("updates", "changes", "skyline", "rejected")


@pytest.mark.parametrize(
    ("given", "label"),
    [("1h", "1h"), ("60m", "1h"), ("90s", "90s"), (250, "250ms"), ("2 d", "2d"), (86_400_000, "1d"), ("61m", "61m")],
)
def test_durations_are_named_in_their_largest_whole_unit(given, label):
    view = view_of({"span": "7d", "watch": [given]})
    assert view.kinds[4] == f"changes.last-{label}"


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ({}, "either size"),
        ({"size": 5, "span": "1h"}, "either size"),
        ({"size": 0}, "positive integer, got 0"),
        ({"size": True}, "positive integer"),
        ({"span": "soon"}, "a duration is"),
        ({"size": 5, "watch": [6]}, "watch 6 lies outside 1 to 5"),
        ({"size": 5, "watch": [0]}, "watch 0 lies outside 1 to 5"),
        ({"size": 5, "watch": ["1s"]}, "must list integers"),
        ({"size": 5, "watch": 3}, "must be a list such as"),
        ({"size": 5, "watch": [2, 2]}, "names 2 twice"),
        ({"span": "1h", "watch": ["1m", "60s"]}, "names 60000 twice"),
        ({"size": 5, "slide": 1}, "unknown key 'slide'"),
        (5, "window must be a table"),
    ],
)
def test_windows_that_are_none(window, message):
    with pytest.raises(InvalidInput, match=f"view 'trades': .*{message}"):
        view_of(window)


@pytest.mark.parametrize(
    ("more", "message"),
    [({"group_by": ["city"]}, "no group_by"), ({"coalesce": True}, "no coalesce"), ({"engine": "forest"}, "no engine")],
)
def test_a_window_view_says_what_it_does_not_have(more, message):
    with pytest.raises(InvalidInput, match=f"view 'trades': a window has {message}"):
        view_of({"size": 5}, **more)


def test_no_other_view_may_write_to_the_topic_of_a_watch():
    with pytest.raises(InvalidInput, match=r"'trades.changes.last-5' is written by trades.changes.last-5 already"):
        views_of(
            {
                "trades": {**BASE, "window": {"size": 9, "watch": [5]}},
                "other": {**BASE, "changes": "trades.changes.last-5"},
            }
        )


def test_labels_of_counts_are_counts():
    assert Window(size=100).label(60) == "60"
