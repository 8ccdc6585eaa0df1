"""Streams for tests of windows: with ties, duplicates and infinities, in 1 to 6 dimensions, with and without time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

INF = float("inf")
COORDINATES = st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, 4.0, -1.5, INF, -INF])


def all_min(dims: int) -> dict[str, str]:
    return {f"d{k}": "min" for k in range(dims)}


@st.composite
def streams(draw: st.DrawFn, most: int = 40) -> list[tuple[float, ...]]:
    dims = draw(st.integers(1, 6))
    return draw(st.lists(st.tuples(*[COORDINATES] * dims), min_size=1, max_size=most))


@st.composite
def timed_streams(draw: st.DrawFn) -> list[tuple[int, tuple[float, ...]]]:
    """Several elements per millisecond, and gaps longer than the windows."""
    stream = draw(streams(30))
    steps = draw(st.lists(st.sampled_from([0, 0, 1, 1, 2, 7]), min_size=len(stream), max_size=len(stream)))
    return [(int(time) - 5, point) for time, point in zip(np.cumsum(steps), stream, strict=True)]


def long_stream(seed: int, count: int, dims: int, values: int) -> npt.NDArray[np.float64]:
    """`values` distinct values per dimension; 0 for distinct points that trade one dimension for the others."""
    rng = np.random.default_rng(seed)
    if values:
        return rng.integers(0, values, (count, dims)).astype(np.float64)
    stream = rng.random((count, dims))
    if dims > 1:
        stream[:, -1] = (dims - 1 - stream[:, :-1].sum(axis=1)) + 0.1 * stream[:, -1]
    return stream
