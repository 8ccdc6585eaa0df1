"""Made-up data: the same plan gives the same updates, the view takes them all, and each is what it says."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import Any

import numpy as np
import orjson
import pytest

from ingest.workloads.catalogue import WORKLOADS
from ingest.workloads.plan import Plan, Row
from ingest.workloads.points import DISTRIBUTIONS, draw
from skyline import skyline_of
from skyline.view import View
from skyline.wire.rejects import Rejected
from skyline.wire.updates import read_update
from tests.ingest.harness import WINDOW, view_of

START = 1_700_000_000_000
SPOT = View.of(
    "spot",
    {
        "dimensions": {"price": "min", "interruptions": "min", "vcpus": "max"},
        "group_by": ["region"],
        "carry": ["instance", "zone"],
    },
)
PAPERS = sorted(set(WORKLOADS) - {"market"})


def rows(name: str, count: int, view: View | None = None, **plan: Any) -> list[Row]:
    view = view or (SPOT if name == "market" else view_of("hotels"))
    return list(islice(WORKLOADS[name](Plan(view, **{"seed": 1, "start": START, "step": 2.5, **plan})), count))


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_same_plan_gives_the_same_updates(name: str) -> None:
    once = rows(name, 3000)
    assert rows(name, 3000) == once
    assert rows(name, 3000, seed=2) != once


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_view_takes_every_update(name: str) -> None:
    view = (
        SPOT
        if name == "market"
        else view_of("odd", group_by=["a%d", 'b"'], carry=["c\\"], dimensions={"%s": "min", "x": "max"})
    )
    for key, value, _ in rows(name, 3000, view):
        assert not isinstance(read_update(view, key, value), Rejected)


@pytest.mark.parametrize("name", WORKLOADS)
def test_event_time_passes_as_planned(name: str) -> None:
    times = [at for _, _, at in rows(name, 3000, objects=100)]
    assert times == sorted(times)
    if name == "snapshots":  # all of a snapshot at once
        assert all(at <= START + int(2.5 * number) for number, at in enumerate(times))
        assert len(set(times)) < 1000
    else:
        assert times == [START + int(2.5 * number) for number in range(3000)]


@pytest.mark.parametrize("name", PAPERS)
def test_objects_stay_in_their_groups(name: str) -> None:
    view = view_of("hotels", group_by=["city", "stars"], carry=[])
    groups = defaultdict(set)
    for key, value, _ in rows(name, 3000, view, groups=4, objects=200):
        fields = orjson.loads(value or b"")
        groups[key].add((fields["city"], fields["stars"]))
    assert all(len(of_key) == 1 for of_key in groups.values())
    assert len(set().union(*groups.values())) == 16


@pytest.mark.parametrize("name", ["esc", "window", "snapshots"])
def test_windows_get_elements_without_keys(name: str) -> None:
    view = View.of("deals", WINDOW)
    for key, value, _ in rows(name, 2500, view):
        assert key is None
        assert not isinstance(read_update(view, key, value), Rejected)


def test_esc_moves_each_object_a_little() -> None:
    last: dict[bytes | None, Any] = {}
    steps = []
    for key, value, _ in rows("esc", 20_000, objects=500):
        fields = orjson.loads(value or b"")
        here = np.array([fields["price"], fields["rating"]])
        assert ((here >= 0) & (here <= 1000)).all()
        if key in last:
            steps.append(np.abs(here - last[key]).max())
        last[key] = here
    assert len(last) == 500
    assert 0 < np.median(steps) < 100


def test_lookout_objects_expire_within_their_span() -> None:
    span = 400
    plan = rows("lookout", 3 * span, objects=span, step=10.0)
    assert len({key for key, _, _ in plan}) == 3 * span
    lives = []
    for number, (_, value, at) in enumerate(plan):
        until = orjson.loads(value or b"")["valid_until"]
        end = START + (number // span + 1) * span * 10
        assert at < until <= end
        lives.append((until - at) / (end - at))
    assert 0.4 < np.mean(lives) < 0.6


def test_snapshots_move_few_values_at_one_moment() -> None:
    plan = rows("snapshots", 6000, objects=1000)
    sizes = Counter(at for _, _, at in plan[1000:])
    # 1 - (1 - p)^d of the objects move, with p = 0.025 and two dimensions
    assert 30 < np.mean(list(sizes.values())[:-1]) < 70
    assert Counter(at for _, _, at in plan)[START] == 1000


def test_window_elements_are_all_new() -> None:
    assert len({key for key, _, _ in rows("window", 5000)}) == 5000


def test_the_market_withdraws_and_expires_offers() -> None:
    plan = rows("market", 20_000)
    values = [orjson.loads(value) for _, value, _ in plan if value is not None]
    assert 200 < len(plan) - len(values) < 800
    assert {fields["region"] for fields in values} == {"eu-west", "us-east", "ap-south"}
    assert all(
        5_000 <= fields["valid_until"] - at <= 60_000
        for (_, value, at), fields in zip([row for row in plan if row[1] is not None], values, strict=True)
    )
    assert len({key for key, _, _ in plan}) == 405


def test_distributions_make_skylines_of_their_size() -> None:
    rng = np.random.default_rng(1)
    sizes = {name: len(skyline_of(draw(name, rng, 5000, 3))) for name in DISTRIBUTIONS}
    assert sizes["correlated"] < sizes["independent"] < sizes["anti-correlated"]
    for name in DISTRIBUTIONS:
        points = draw(name, rng, 1000, 4)
        assert points.shape == (1000, 4)
        assert ((points >= 0) & (points <= 1)).all()


def test_maximised_dimensions_are_good_where_minimised_ones_are() -> None:
    """In a correlated workload a cheap hotel is a good one."""
    values = [orjson.loads(value or b"") for _, value, _ in rows("window", 2000, distribution="correlated")]
    prices, ratings = ([fields[name] for fields in values] for name in ("price", "rating"))
    assert np.corrcoef(prices, ratings)[0, 1] < -0.9
