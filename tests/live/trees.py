"""Points and trees for the tests of the papers' indexes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from skyline.live.blocktree import Index, Places
from skyline.live.quadtree import Quadtree
from skyline.live.rtree_index import RStarTree
from skyline.view import Floats

INDEXES: dict[str, Callable[[int], Index]] = {
    "quadtree": lambda dimensions: Quadtree(dimensions, bucket=4),
    "rtree": lambda dimensions: RStarTree(dimensions, capacity=5),
}
"""Empty trees with small nodes, so that few objects make them deep."""

ORDINARY = st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.5, -1.0, 1e-9])
EXTREME = st.sampled_from([np.inf, -np.inf, 1.7e308, -1.7e308, 2.0**50, 2.0**60, 5e-324, -5e-324, 1e300, 1.1e300, -1.0])
ANY = st.floats(allow_nan=False).map(lambda x: x + 0.0)


def clouds(least: int = 1, most: int = 60) -> st.SearchStrategy[Floats]:
    """(n, d) points with ties, duplicates, infinities and numbers of every size, in 1 to 6 dimensions."""

    def cloud(dimensions: int) -> st.SearchStrategy[Floats]:
        points = st.lists(st.tuples(*[ORDINARY | EXTREME | ANY] * dimensions), min_size=least, max_size=most)
        return points.map(lambda rows: np.array(rows).reshape(len(rows), dimensions))

    return st.integers(1, 6).flatmap(cloud)


def placed(points: Floats) -> Floats:
    """The places of all points."""
    places = Places(points.shape[1])
    places.put(points, np.arange(len(points)))
    return places.rows
