"""The 2014 paper's own examples, and where following it to the letter goes wrong.

`AsPrinted` is the paper's section 5 in plain Python, sentence by sentence. Each counterexample below shows what it
answers, what the definition says, and that SnapshotSkyline agrees with the definition. docs/algorithms.md
tells the stories.
"""

from __future__ import annotations

import numpy as np
import pytest

from skyline.batch import snapshots_kernels as kernels
from skyline.batch.snapshots import SnapshotSkyline
from tests import naive


class AsPrinted:
    """Boxes, SKM, NSKM, adrm and DRM exactly as the paper has them; with two corrections if asked for."""

    def __init__(self, points, cfp, strict=False, check_all=False):
        self.points = [tuple(point) for point in points]
        self.lb, self.ub = list(self.points), list(self.points)
        self.limit, self.strict, self.check_all = cfp, strict, check_all
        self.skm = naive.skyline(self.points)
        self.adrm = {}
        self.cfp = dict.fromkeys(self.skm, 0)
        for row in range(len(self.points)):
            if row not in self.skm:
                self.adrm[row] = next(j for j in self.skm if naive.dominates(self.points[j], self.points[row]))

    def dominates(self, i, j):
        """Definition 4: every point of box i weakly dominates every point of box j."""
        weakly = all(a <= b for a, b in zip(self.ub[i], self.lb[j], strict=True))
        return weakly and (not self.strict or self.ub[i] != self.lb[j])

    def apply(self, updates):
        """Sections 5.2 to 5.4, for {row: point}; returns the skyline's rows."""
        verification = []
        for row, point in updates.items():
            lb, ub = self.lb[row], self.ub[row]
            self.points[row] = point
            self.lb[row] = tuple(map(min, lb, point))
            self.ub[row] = tuple(map(max, ub, point))
            if row in self.adrm and self.lb[row] != lb and not self.dominates(self.adrm[row], row):
                verification.append(row)
                del self.adrm[row]
            if (row in self.skm or self.check_all) and self.ub[row] != ub:
                for below in [j for j, above in self.adrm.items() if above == row and not self.dominates(row, j)]:
                    verification.append(below)
                    del self.adrm[below]
        for row in verification:
            self.place(row)
        skyline = self.evaluate()
        self.reconstruct(skyline)
        return skyline

    def place(self, row):
        """VL refinement: below the first box of SKM that dominates it, else into SKM."""
        above = next((j for j in self.skm if j != row and self.dominates(j, row)), None)
        if above is not None:
            self.adrm[row] = above
        else:
            self.skm.append(row)
            self.cfp[row] = 0

    def evaluate(self):
        candidates = sorted(self.skm)
        return [candidates[place] for place in naive.skyline([self.points[row] for row in candidates])]

    def reconstruct(self, skyline):
        for row in list(self.skm):
            self.cfp[row] = 0 if row in skyline else self.cfp[row] + 1
            if self.cfp[row] >= self.limit:
                self.lb[row] = self.ub[row] = self.points[row]
                self.skm.remove(row)
                self.place(row)


def compare(points, snapshots, cfp, **corrections):
    """What the paper's algorithm and SnapshotSkyline answer at the end; SnapshotSkyline is checked all along."""
    printed, ours = AsPrinted(points, cfp, **corrections), SnapshotSkyline(points, cfp=cfp)
    current = [tuple(point) for point in points]
    answer = naive.skyline(current)
    for updates in snapshots:
        for row, point in updates.items():
            current[row] = point
        answer = printed.apply(updates)
        assert ours.apply(list(updates), list(updates.values())).tolist() == naive.skyline(current)
        ours._check()
    return answer, ours.members().tolist(), printed, ours


EQUAL_POINTS = (
    [(0.0, 0.0), (2.0, 2.0), (3.0, 3.0)],
    [{0: (9.0, 9.0), 2: (2.0, 2.0)}],
)
"""Rows 1 and 2 lose row 0, which dominated them, and row 2 moves to where row 1 is."""

FORGOTTEN_ROWS = (
    [(2.0, 8.0), (3.0, 3.0), (6.0, 9.0)],
    [
        {0: (4.0, 8.0)},  # row 1 dominates row 0, which goes to NSKM and keeps row 2 below it (the paper's Fig. 3)
        {0: (7.0, 8.0)},  # row 0 no longer dominates row 2, but is in NSKM: section 5.2 does not look
        {1: (3.0, 20.0)},  # row 1 no longer dominates row 0, which goes back to SKM; row 2 is forgotten in NSKM
    ],
)


def test_boxes_that_dominate_weakly_lose_equal_points():
    """Definition 4 lets a box dominate one that holds the same point; Lemma 2 then drops a member."""
    printed, ours, _, _ = compare(*EQUAL_POINTS, cfp=50)
    assert printed == [1]
    assert ours == [1, 2]


def test_rows_below_a_row_of_nskm_are_forgotten():
    """Section 5.2 (2) looks below a row only if it is in SKM, but Fig. 3 leaves rows below rows of NSKM."""
    printed, ours, _, _ = compare(*FORGOTTEN_ROWS, cfp=1)
    assert printed == [0, 1]
    assert ours == [0, 1, 2]


@pytest.mark.parametrize("corrections", [{"strict": True}, {"check_all": True}])
def test_one_correction_is_not_enough(corrections):
    wrong = [compare(*EQUAL_POINTS, cfp=50, **corrections), compare(*FORGOTTEN_ROWS, cfp=1, **corrections)]
    assert any(printed != ours for printed, ours, _, _ in wrong)


def test_both_corrections_make_the_paper_right():
    random = np.random.default_rng(11)
    for _ in range(30):
        count, dimensions = 12, int(random.integers(1, 4))
        points = random.integers(0, 5, (count, dimensions)).astype(float)
        snapshots = [
            {int(row): tuple(map(float, random.integers(0, 5, dimensions))) for row in random.permutation(count)[:4]}
            for _ in range(20)
        ]
        printed, ours, _, _ = compare(points.tolist(), snapshots, cfp=2, strict=True, check_all=True)
        assert printed == ours


def test_members_whose_boxes_only_grow_never_dominate_again():
    """Only false positives are reconstructed, but it is the member's wide box that keeps them in SKM for ever."""
    points = [(0.0, 0.0), (5.0, 5.0)]
    snapshots = [{0: (9.0, -1.0)}, {0: (0.0, 0.0)}, *[{}] * 100]
    _, members, printed, ours = compare(points, snapshots, cfp=3)
    assert members == [0]
    assert sorted(printed.skm) == [0, 1]
    assert ours.candidates().tolist() == [0]


def test_a_verification_list_in_any_order_takes_in_boxes_that_others_on_it_dominate():
    """Definition 5 has only row 2 beside row 0; section 5.2 takes row 1 in before row 2 is there to dominate it."""
    _, members, printed, ours = compare([(0.0, 0.0), (3.0, 3.0), (2.0, 2.0)], [{0: (9.0, 9.0)}], cfp=50)
    assert members == [2]
    assert sorted(printed.skm) == [0, 1, 2]
    assert ours.candidates().tolist() == [0, 2]


def test_running_example_of_figure_1b():
    """Five objects over seven snapshots: boxes 3 and 4 dominate box 1, box 4 dominates box 2; the text gives the
    skylines of snapshots 5 and 6. Objects 1 and 2 are never candidates. (The figure has no numbers; these fit it.)"""
    paths = {
        1: [(7, 9), (9, 10), (8, 11), (8, 10), (7, 10), (8, 9), (9, 9)],
        2: [(8, 4), (9, 5), (10, 6), (9, 6), (9, 4), (8, 5), (8, 6)],
        3: [(3, 6), (4, 5), (4, 7), (4, 8), (3, 8), (4, 6), (3, 5)],
        4: [(6, 1), (6, 2), (5, 3), (4, 3), (2, 2), (1, 1), (5, 2)],
        5: [(9, 2), (8, 3), (7, 4), (6, 4), (5, 3), (5, 2), (8, 0.5)],
    }
    objects = sorted(paths)
    view = SnapshotSkyline([paths[number][0] for number in objects])
    skylines = {0: view.members()}
    for snapshot in range(1, 7):
        skylines[snapshot] = view.apply(range(5), [paths[number][snapshot] for number in objects])
        assert not set(view.candidates()) & {objects.index(1), objects.index(2)}
        view._check()
    assert [objects[row] for row in skylines[5]] == [4]
    assert [objects[row] for row in skylines[6]] == [3, 4, 5]


def test_a_reconstructed_box_takes_along_what_it_dominates():
    """Figure 3: box 2 goes below box 3 with boxes 7 and 8. In ours these hang below box 3 themselves."""
    two, three, seven, eight = range(4)
    view = SnapshotSkyline([(2.0, 8.0), (3.0, 3.0), (2.5, 9.0), (2.2, 10.0)], cfp=2)
    assert view._below(two) == [seven, eight]
    view.apply([seven, eight], [(5.0, 9.0), (6.0, 10.0)])
    view.apply([two], [(4.0, 8.0)])
    assert view._below(two) == [seven, eight]
    view.apply([], [])
    assert view.candidates().tolist() == [three]
    assert view._below(three) == [two, seven, eight]
    view._check()


@pytest.mark.parametrize("cfp", [1, 2, 5])
def test_a_false_positive_is_retired_after_cfp_snapshots_in_a_row(cfp):
    view = SnapshotSkyline([(1.0, 1.0), (0.0, 5.0)], cfp=cfp)
    view.prepare([1], [(2.0, 5.0)])
    for _ in range(cfp):
        assert view.candidates().tolist() == [0, 1]
        assert view.evaluate().tolist() == [0]
        view.finish()
    assert view.candidates().tolist() == [0]


def test_membership_starts_the_count_of_false_positives_anew():
    view = SnapshotSkyline([(1.0, 1.0), (0.0, 5.0)], cfp=3)
    for point in [(2.0, 5.0), (2.0, 5.5), (0.5, 5.0), (2.0, 5.0), (2.0, 5.5)]:
        view.apply([1], [point])
        assert view.candidates().tolist() == [0, 1]
    view.apply([], [])
    assert view.candidates().tolist() == [0]


@pytest.mark.parametrize(
    ("point", "low", "high"),
    [
        ((4.0, 5.0), (2.0, 2.0), (4.0, 5.0)),  # case I: only the high corner grows
        ((1.0, 0.0), (1.0, 0.0), (3.0, 3.0)),  # case II: only the low corner
        ((5.0, 1.0), (2.0, 1.0), (5.0, 3.0)),  # case III: both
        ((2.5, 3.0), (2.0, 2.0), (3.0, 3.0)),  # case IV: neither
    ],
)
def test_the_four_cases_of_a_box_that_takes_in_a_point(point, low, high):
    view = SnapshotSkyline([(3.0, 3.0), (-9.0, 9.0), (9.0, -9.0)])
    view.apply([0], [(2.0, 2.0)])
    view.apply([0], [point])
    assert view._boxes[0, kernels.LOW].tolist() == list(low)
    assert view._boxes[0, kernels.HIGH].tolist() == list(high)
