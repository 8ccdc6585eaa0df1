"""Approximate skylines: what is known after so many pages, with a bound on how far off it can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from skyline.search.bbs_kernels import ENTRY, HEAP, PART
from skyline.search.counting_kernels import covered
from skyline.search.members import Members
from skyline.search.parts import Parts, Snapshot
from skyline.search.query import Space
from skyline.search.tree import Tree
from skyline.view import Bools, Dimensions, Floats, Ints

_SAMPLES: Final = 10_000
"""Points that measure a volume, as many as in the paper."""

_FANOUT: Final = 12
"""Of the trees that sort out the guesses; any would do."""

_SEED: Final = 2005
"""Of these points: the same search reports the same error."""


@dataclass(frozen=True)
class Approximation:
    """What a search knew when its pages were spent.

    points: (m, d) the approximate skyline in given units: objects, and one hypothetical point for every node that
        may hold members.
    ids: (m,) of the objects; where `hypothetical` (m,) is true there is none, and it is -1.
    error: at most this share of the volume that the data span is dominated by exactly one of the two, this skyline
        and the true one, estimated with 10,000 points. 0 once the search is complete.
    """

    points: Floats
    ids: Ints
    hypothetical: Bools
    error: float
    node_accesses: int
    complete: bool


class _Horizon(NamedTuple):
    """Everything that a search has found or not ruled out: objects (low = high), and nodes with their live counts."""

    lows: Floats  # (n, d)
    highs: Floats
    counts: Ints  # (n,) 0 for objects
    ids: Ints
    full: Bools  # (n,) nodes of which nothing died, so that their boxes are tight


def approximate(search: Members, space: Space) -> Approximation:
    """Runs the search until its pages are spent, and puts a hypothetical point where it did not look.

    A node of N points uniform in its box has its smallest coordinate, in each of d dimensions, expected at
    1 / (d N + 1) of the box's side (section 5 of the paper); N is known here, not estimated from the level.
    """
    horizon = _horizon(search, len(space.dimensions))
    with np.errstate(over="ignore", invalid="ignore"):
        sides = horizon.highs - horizon.lows
    # of an endless side nothing is expected; its low end is the best that can be there
    sides[~np.isfinite(sides)] = 0.0
    guesses = horizon.lows + sides / (len(space.dimensions) * horizon.counts + 1)[:, None]
    kept = _skyline(guesses)
    return Approximation(
        space.dimensions.outward(guesses[kept]),
        horizon.ids[kept],
        horizon.counts[kept] > 0,
        0.0 if search.exhausted else _error(horizon, guesses[kept]),
        search.node_accesses,
        search.exhausted,
    )


def _horizon(search: Members, dims: int) -> _Horizon:
    snapshot, state = search.snapshot, search.state
    found = search.places()
    sights = [_objects(snapshot.rows(found)[:, :dims], found[:, 0])]
    marks = state.marks[state.heap[: state.scratch[HEAP]]]
    for part, tree in enumerate(snapshot.parts):
        entries = marks[marks[:, PART] == part, ENTRY]
        nodes, slots = _open_read(tree, snapshot, entries[entries >= 0])
        slots = np.concatenate([slots, ~entries[entries < 0]])
        sights += [_nodes(tree, snapshot.fanout, nodes, dims), _objects(tree.points[slots, :dims], tree.ids[slots])]
    return _Horizon(*(np.concatenate(columns) for columns in zip(*sights, strict=True)))


def _open_read(tree: Tree, snapshot: Snapshot, nodes: Ints) -> tuple[Ints, Ints]:
    """Nodes and live slots that are known: a node of an even level came with its parent's page, and so its children."""
    fanout, levels = snapshot.fanout, tree.levels
    level = np.searchsorted(levels, nodes, side="right") - 1
    read = (level % 2 == 0) & (level < len(levels) - 2)
    within = nodes[read] - levels[level[read]]
    children = within[:, None] * fanout + np.arange(fanout)
    above = level[read] > 0
    below = levels[level[read][above] - 1][:, None] + children[above]
    ends = levels[level[read][above]][:, None]
    slots = children[~above]
    slots = slots[slots < len(tree.ids)]
    below = below[below < ends]
    known = np.concatenate([nodes[~read], below[tree.emptied[below] > snapshot.version]])
    return known, slots[tree.died[slots] > snapshot.version]


def _objects(points: Floats, ids: Ints) -> _Horizon:
    return _Horizon(points, points, np.zeros(len(ids), np.int64), ids, np.zeros(len(ids), np.bool_))


def _nodes(tree: Tree, fanout: int, nodes: Ints, dims: int) -> _Horizon:
    level = np.searchsorted(tree.levels, nodes, side="right") - 1
    capacity = fanout ** (level + 1)
    first = (nodes - tree.levels[level]) * capacity
    full = tree.counts[nodes] == np.minimum(first + capacity, len(tree.ids)) - first
    alive = np.maximum(tree.counts[nodes], 1)
    return _Horizon(tree.lows[nodes, :dims], tree.highs[nodes, :dims], alive, np.full(len(nodes), -1), full)


def _error(horizon: _Horizon, guesses: Floats) -> float:
    """Share of the volume that the guesses dominate and the true skyline may not, or the other way round.

    A guess lies inside its node's box, so both dominate no more than is possible. But what is certain need not be
    dominated by the guesses: an object touches each face of a tight box, and the guess lies behind that face.
    """
    low, high = _finite_box(np.concatenate([horizon.lows, horizon.highs]))
    share = np.random.default_rng(_SEED).random((_SAMPLES, len(low)))
    samples = low * (1.0 - share) + high * share
    sure = _sure_corners(horizon)
    possible, certain = covered(samples, horizon.lows[_skyline(horizon.lows)]), covered(samples, sure[_skyline(sure)])
    return float(np.mean(np.where(covered(samples, guesses), ~certain, possible)))


def _sure_corners(horizon: _Horizon) -> Floats:
    """Corners below each of which lies an object: high corners, pulled in to each face in turn where it is touched."""
    corners = [horizon.highs]
    for dim in range(horizon.highs.shape[1]):
        pulled = horizon.highs[horizon.full]
        pulled[:, dim] = horizon.lows[horizon.full, dim]
        corners.append(pulled)
    return np.concatenate(corners)


def _finite_box(corners: Floats) -> tuple[Floats, Floats]:
    finite = np.isfinite(corners)
    low = np.min(corners, axis=0, where=finite, initial=np.inf)
    high = np.max(corners, axis=0, where=finite, initial=-np.inf)
    return np.where(low <= high, low, 0.0), np.where(low <= high, high, 0.0)


def _skyline(points: Floats) -> Ints:
    """Rows of the skyline, by a search of its own."""
    space = Space(Dimensions.unnamed(None, points.shape[1]), labelled=False)
    parts = Parts(points.copy(), np.arange(len(points)), _FANOUT, background=False)
    return Members(parts.snapshot, space.query()).rest()
