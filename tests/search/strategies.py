"""Points and questions that Hypothesis draws: few values, so that ties, duplicates and infinities are common."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

VALUES = st.sampled_from([-np.inf, -2.5, -1.0, -0.0, 0.0, 0.1, 0.2, 0.3, 1.0, 2.0, 3.0, 1e17, 1e308, np.inf])
FINITE = st.sampled_from([-2.5, -1.0, 0.0, 0.1, 0.3, 1.0, 2.0, 1e17])
PAGES = st.sampled_from([64, 200, 4096])
"""Small pages make deep trees of few points."""


@st.composite
def points(draw, values=VALUES, max_rows=40, max_dims=6):
    dims = draw(st.integers(1, max_dims))
    rows = draw(st.lists(st.lists(values, min_size=dims, max_size=dims), max_size=max_rows))
    return np.array(rows, np.float64).reshape(-1, dims)


def directions(dims):
    return st.lists(st.sampled_from(["min", "max"]), min_size=dims, max_size=dims)


@st.composite
def boxes(draw, dims):
    ends = draw(st.lists(st.tuples(VALUES, VALUES), min_size=dims, max_size=dims))
    return [min(pair) for pair in ends], [max(pair) for pair in ends]


@st.composite
def options(draw, dims, labels=False):
    """Any combination of the options of `search`."""
    low, high = draw(boxes(dims))
    every = {
        "low": low,
        "high": high,
        "dims": draw(st.permutations(range(dims)))[: draw(st.integers(1, dims))],
        "reference": draw(st.lists(FINITE | st.none(), min_size=dims, max_size=dims)),
        "k": draw(st.integers(1, 4)),
        "weights": draw(st.lists(st.sampled_from([0.0, 0.3, 1.0, 1e300]), min_size=dims, max_size=dims)),
        "limit": draw(st.integers(0, 12)),
    }
    if labels:
        every["label"] = draw(st.integers(0, 3))
    return {name: every[name] for name in draw(st.sets(st.sampled_from(sorted(every))))}
