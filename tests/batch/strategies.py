"""Points that are hard on a skyline: few distinct values, so ties and equals abound; infinities; both zeros."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

_TIES = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 1.0, 2.0, np.inf])
_ANY = st.floats(allow_nan=False)


def points(
    max_rows: int = 40, max_dimensions: int = 8, values: st.SearchStrategy[float] | None = None
) -> st.SearchStrategy[npt.NDArray[np.float64]]:
    """(n, d) float64 arrays, no rows included."""
    shapes = st.tuples(st.integers(0, max_rows), st.integers(1, max_dimensions))
    return hnp.arrays(np.float64, shapes, elements=values or st.one_of(_TIES, _ANY))


def directions(count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(["min", "max"]), min_size=count, max_size=count)
