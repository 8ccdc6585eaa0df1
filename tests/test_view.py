"""Views: directions, tables of views.toml, windows and durations, and the mistakes people make in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyline import InvalidInput
from skyline.view import TOPIC_KINDS, Dimensions, View, Window, parse_duration, views_of

DIMENSIONS = {"price": "min", "rating": "max"}
TABLE: dict[str, Any] = {"dimensions": DIMENSIONS}


@given(st.lists(st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)), max_size=20))
def test_directions_are_undone_on_the_way_out(rows: list[tuple[float, float]]) -> None:
    dimensions = Dimensions.of(DIMENSIONS)
    inward = dimensions.inward(np.array(rows).reshape(len(rows), 2))
    assert inward.flags["C_CONTIGUOUS"]
    assert inward.tolist() == [[a, -b] for a, b in rows]
    assert not np.signbit(inward[inward == 0]).any(), "-0.0 is 0.0"
    assert dimensions.outward(inward).tolist() == [[a, b] for a, b in rows]


def test_what_comes_in_is_a_copy() -> None:
    given_points = np.array([[1.0, 2.0]])
    inward = Dimensions.of({"a": "min", "b": "min"}).inward(given_points)
    inward[:] = 9
    assert given_points.tolist() == [[1.0, 2.0]]


def test_unnamed_dimensions_are_minimised_unless_told() -> None:
    assert Dimensions.unnamed(None, 3).directions == ("min", "min", "min")
    assert Dimensions.unnamed(["max", "min"], 2).signs.tolist() == [-1.0, 1.0]
    with pytest.raises(InvalidInput, match="1 directions given for points of 2 dimensions"):
        Dimensions.unnamed(["max"], 2)


def test_a_view_has_defaults_and_topics_of_its_name() -> None:
    view = View.of("hotels", TABLE)
    assert (view.engine, view.group_by, view.carry, view.window, view.coalesce) == ("forest", (), (), None, False)
    assert [view.topic(kind) for kind in TOPIC_KINDS] == [f"hotels.{kind}" for kind in TOPIC_KINDS]


def test_a_view_takes_everything_it_is_given() -> None:
    table = {
        **TABLE,
        "group_by": ["city"],
        "carry": ["name"],
        "engine": "esc",
        "coalesce": True,
        "updates": "raw.hotels",
    }
    view = View.of("hotels", table)
    assert view.dimensions.names == ("price", "rating")
    assert (view.group_by, view.carry, view.engine, view.coalesce) == (("city",), ("name",), "esc", True)
    assert view.window is None
    assert view.topic("updates") == "raw.hotels"
    assert view.topic("changes") == "hotels.changes"


def test_a_window_is_read_with_its_watches() -> None:
    view = View.of("hotels", {**TABLE, "carry": ["name"], "window": {"size": 100, "watch": [10, 100]}})
    assert view.window == Window(size=100, watch=(10, 100))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "dimensions are missing"),
        ([], "expected a table"),
        ({**TABLE, "groupby": ["a"]}, "unknown key 'groupby'; allowed: carry"),
        ({"dimensions": {"a": "up"}}, "'a': direction must be"),
        ({**TABLE, "group_by": "city"}, "group_by must be a list of field names"),
        ({**TABLE, "carry": [""]}, "carry must be a list of field names"),
        ({**TABLE, "carry": ["price"]}, "field 'price' is named twice"),
        ({**TABLE, "carry": ["$op"]}, r"field '\$op' has a meaning of its own"),
        ({**TABLE, "carry": ["valid_until"]}, "field 'valid_until' has a meaning of its own"),
        ({**TABLE, "engine": "btree"}, "engine must be one of forest, esc, lookout, recompute"),
        ({**TABLE, "coalesce": 1}, "coalesce must be true or false"),
        ({**TABLE, "changes": "a topic"}, "changes must be a topic name"),
        ({**TABLE, "changes": ".."}, "changes must be a topic name"),
        ({**TABLE, "window": {"size": 0}}, "size must be a positive integer"),
        ({**TABLE, "window": {"size": True}}, "size must be a positive integer"),
        ({**TABLE, "window": {}}, "either size .* or span"),
        ({**TABLE, "window": {"size": 5, "span": "1h"}}, "either size .* or span"),
        ({**TABLE, "window": {"size": 5, "watch": [6]}}, "watch 6 lies outside 1 to 5"),
        ({**TABLE, "window": {"size": 5, "watch": ["3"]}}, "watch must list integers"),
        ({**TABLE, "window": {"length": 5}}, "unknown key 'length'; allowed: size, span, watch"),
        ({**TABLE, "window": {"span": "1 hour"}}, "a duration is a positive number"),
    ],
)
def test_mistakes_name_the_view_the_key_and_what_is_allowed(table: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"view 'hotels': .*{message}"):
        View.of("hotels", table)


@pytest.mark.parametrize("name", ["", "a b", "a.b", "x" * 101, "ü", "a\n"])
def test_names_that_make_no_topic_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="a view's name is 1 to 100 letters"):
        View.of(name, TABLE)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("250 ms", 250), ("90s", 90_000), ("5m", 300_000), ("1h", 3_600_000), ("2d", 172_800_000), (1500, 1500)],
)
def test_durations(text: Any, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize("text", ["", "1", "h", "-1h", "0s", "1.5h", "1h ", 0, -5, True, None, 1.5])
def test_what_is_no_duration_is_refused(text: Any) -> None:
    with pytest.raises(InvalidInput, match="a duration is a positive number"):
        parse_duration(text)


def test_a_window_of_time_watches_durations() -> None:
    assert Window.of({"span": "1h", "watch": ["1m", "1h"]}) == Window(span=3_600_000, watch=(60_000, 3_600_000))
    with pytest.raises(InvalidInput, match="watch 7200000 lies outside 1 to 3600000"):
        Window.of({"span": "1h", "watch": ["2h"]})


def test_views_may_share_what_they_read_but_not_what_they_write() -> None:
    both = views_of({"a": {**TABLE, "updates": "raw"}, "b": {**TABLE, "updates": "raw"}})
    assert both["a"].topic("updates") == both["b"].topic("updates") == "raw"
    with pytest.raises(InvalidInput, match=r"view 'b': topic 'a.changes' is written by a.changes already"):
        views_of({"a": TABLE, "b": {**TABLE, "changes": "a.changes"}})
    reader = {**TABLE, "updates": "a.skyline"}
    for views in ({"a": TABLE, "b": reader}, {"b": reader, "a": TABLE}):
        with pytest.raises(InvalidInput, match=r"view 'b': topic 'a.skyline' of its updates is written by a.skyline"):
            views_of(views)
    with pytest.raises(InvalidInput, match="no view is defined"):
        views_of({})
