"""How much a window keeps: mean |R_N| at N = 100K beside theory and beside the paper's figure 4.

The generators are those of benchmarks/datasets.py, which says how they draw. The paper's own are not printed.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.datasets import DISTRIBUTIONS
from benchmarks.window_theory import FIGURE_4, expected_retained
from skyline.window import SkylineWindow
from tests.window import oracle
from tests.window.streams import all_min

N = 100_000
SNAPSHOTS = 10


def mean_retained(distribution: str, dims: int) -> float:
    """Mean over snapshots, the first when the window is full, the last when it has slid by N."""
    points = DISTRIBUTIONS[distribution](2 * N, dims, 7)
    window = SkylineWindow(all_min(dims), size=N)
    window.append(points[:N])
    sizes = []
    for start in range(N, 2 * N, N // SNAPSHOTS):
        window.append(points[start : start + N // SNAPSHOTS])
        sizes.append(len(window.retained()))
    return float(np.mean(sizes))


@pytest.mark.parametrize("dims", range(2, 6))
def test_independent_data_keeps_what_theory_says(dims):
    assert mean_retained("independent", dims) == pytest.approx(expected_retained(N, dims), rel=0.15)


@pytest.mark.parametrize("dims", range(2, 6))
@pytest.mark.parametrize("distribution", ["correlated", "anti-correlated"])
def test_other_data_keeps_about_what_the_paper_says(distribution, dims):
    """Within a factor of two of figure 4, and on the right side of independent data."""
    kept, printed = mean_retained(distribution, dims), FIGURE_4[distribution][dims]
    assert printed / 2 < kept < printed * 2
    assert (kept < expected_retained(N, dims)) == (distribution == "correlated")


def test_theory_against_counting():
    """The mean over many small samples, counted by definition with arrival as one more dimension."""
    rng = np.random.default_rng(3)
    n, dims, samples = 40, 2, 400
    ages = np.arange(n, 0, -1.0)
    counted = [len(oracle.fast_skyline(np.column_stack([rng.random((n, dims)), ages]))) for _ in range(samples)]
    assert np.mean(counted) == pytest.approx(expected_retained(n, dims), rel=0.03)
