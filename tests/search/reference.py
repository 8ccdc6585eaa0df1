"""What a search must give, by definition: naive.skyband of those that take part, in the documented order."""

from __future__ import annotations

import numpy as np

from tests import naive


def inward(points, directions):
    """Points as the library sees them: smaller is better."""
    return np.asarray(points, np.float64) * [1.0 if way == "min" else -1.0 for way in directions] + 0.0


def search(
    points,
    directions,
    ids=None,
    labels=None,
    *,
    low=None,
    high=None,
    dims=None,
    reference=None,
    k=1,
    weights=None,
    limit=None,
    label=None,
):
    """Ids in order. `points` (n, d) are in given units."""
    names = list(range(len(points))) if ids is None else list(ids)
    dims = list(range(len(directions))) if dims is None else list(dims)
    weights = [1.0] * len(directions) if weights is None else weights
    partakers = [
        row
        for row in range(len(points))
        if (low is None or all(a is None or a <= x for a, x in zip(low, points[row], strict=True)))
        and (high is None or all(b is None or x <= b for b, x in zip(high, points[row], strict=True)))
        and (label is None or labels[row] == label)
    ]
    normalised = inward(points, directions)

    def coordinate(row, dim):
        if reference is None or reference[dim] is None:
            return float(normalised[row, dim])
        return abs(float(points[row, dim]) - reference[dim])

    space = [[coordinate(row, dim) for dim in dims] for row in partakers]
    chosen = naive.skyband(space, k)
    order = sorted(chosen, key=lambda at: (key(space[at], [weights[d] for d in dims]), space[at], names[partakers[at]]))
    return [names[partakers[at]] for at in order][:limit]


def key(corner, weights):
    """The sum, with infinities as large finite numbers."""
    total = 0.0
    for value, weight in zip(corner, weights, strict=True):
        term = min(max(value, -1.7e308), 1.7e308) * weight
        total += min(max(term, -1e307), 1e307)
    return total
