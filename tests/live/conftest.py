"""Every engine runs the same suite: a test that takes `make` is run with each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skyline import Skyline

ENGINES: list[tuple[str, dict[str, Any]]] = [
    ("forest", {}),
    ("recompute", {}),
    ("esc", {}),
    ("lookout", {"index": "quadtree"}),
    ("lookout", {"index": "rtree"}),
]
"""Name and options of every engine under test."""

Make = Callable[[list[str]], Skyline]


def maker(name: str, options: dict[str, Any]) -> Make:
    """Makes skylines with this engine, of unnamed dimensions with the given directions."""

    def make(directions: list[str]) -> Skyline:
        return Skyline({f"d{i}": direction for i, direction in enumerate(directions)}, engine=name, **options)

    return make


@pytest.fixture(params=ENGINES, ids=lambda engine: "-".join([engine[0], *map(str, engine[1].values())]))
def make(request: pytest.FixtureRequest) -> Make:
    return maker(*request.param)
