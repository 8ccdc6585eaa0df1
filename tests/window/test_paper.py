"""The worked examples of "Stabbing the Sky" (figures 2, 3, 5, 9, 10, examples 1 to 4).

The figures print no coordinates. The points here are chosen so that everything the text says of them holds; arrivals
are alphabetical (there is no d) and the paper counts them from 1, the library from 0.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from skyline.window import SkylineWindow
from tests import naive

NAMES = "abcefgh"
FIGURE_2 = [(5, 1), (4, 7), (2, 4), (3, 5), (7, 6), (6, 2), (5.5, 1.5)]
FIGURE_5 = [(9, 9), (3, 8), (1, 6), (6, 1), (8, 2), (7, 3), (2, 7)]


def window_over(points: list[tuple[float, float]], size: int, history: bool = False) -> SkylineWindow:
    window = SkylineWindow({"x": "min", "y": "min"}, size=size, history=history)
    window.append(points)
    return window


def names(positions: Iterable[int]) -> str:
    return "".join(NAMES[position] for position in positions)


def intervals(window: SkylineWindow) -> set[tuple[int, int]]:
    """The paper's encoding (k(e'), k(e)] of the dominance graph, roots from 0."""
    state = window.dump()
    labels = state["positions"] + 1
    return {
        (int(labels[parent]) if parent >= 0 else 0, int(label))
        for label, parent in zip(labels, state["parents"], strict=True)
    }


def test_figure_2_skylines_of_the_newest_elements():
    window = window_over(FIGURE_2[:6], 6)
    assert names(window.last(6)) == "ac"
    assert names(window.last(4)) == "cg"
    window.append(FIGURE_2[6:])
    assert names(window.last(6)) == "ch"
    assert names(window.last(4)) == "eh"


def test_figure_3_only_elements_that_are_not_redundant_are_kept():
    """a has expired; b, f and g are dominated by younger ones. By theorem 1 every other one is an answer for some n."""
    window = window_over(FIGURE_2, 6)
    assert names(window.retained()) == "ceh"
    assert {name for n in range(1, 7) for name in names(window.last(n))} == set("ceh")


def test_example_1_only_the_youngest_dominator_is_critical():
    window = window_over([(1, 3), (3, 1), (4, 4)], 3)
    assert intervals(window) == {(0, 1), (0, 2), (2, 3)}
    assert names(window.last(2)) == "b"
    assert names(window.last(1)) == "c"


def test_figure_5_and_examples_2_and_3_the_dominance_graph_by_its_intervals():
    window = window_over(FIGURE_5, 7)
    assert intervals(window) == {(0, 3), (0, 4), (3, 7), (4, 5), (4, 6)}
    assert names(window.last(6)) == "ce"


def test_figure_9_and_example_4_a_standing_query():
    window = window_over(FIGURE_5[:5], 5)
    watch = window.watch(4, log=True)
    assert names(watch.members()) == "ce"
    assert intervals(window) == {(0, 3), (0, 4), (4, 5)}
    window.append(FIGURE_5[5:6])
    assert intervals(window) == {(0, 3), (0, 4), (4, 5), (4, 6)}
    assert len(watch.changes()) == 0
    window.append(FIGURE_5[6:])
    assert intervals(window) == {(0, 3), (0, 4), (4, 5), (4, 6), (3, 7)}
    assert [(c.op, names([c.position]), c.reason) for c in watch.changes()] == [
        ("leave", "c", "expired"),
        ("enter", "h", "inserted"),
    ]
    assert names(watch.members()) == "eh"


def test_figure_10_critical_and_backward_critical_dominators():
    """The CBC graph over all of P_N, and theorem 4 for every (n1, n2)."""
    window = window_over(FIGURE_2, 7, history=True)
    state = window.dump()
    never = np.iinfo(np.int64).max
    for row in range(7):
        dominators = naive.dominators(FIGURE_2, row)
        assert state["history_ancestors"][row] == max((other for other in dominators if other < row), default=-1)
        assert state["history_enders"][row] == min((other for other in dominators if other > row), default=never)
    named = {NAMES[row]: (int(state["history_ancestors"][row]), int(state["history_enders"][row])) for row in range(7)}
    assert named["g"] == (NAMES.index("a"), NAMES.index("h"))
    assert named["e"] == (NAMES.index("c"), never)
    assert named["b"] == (-1, NAMES.index("c"))
    for n2 in range(1, 8):
        for n1 in range(1, n2 + 1):
            first, last = 8 - n2, 8 - n1
            by_theorem = [
                row
                for row in range(7)
                if state["history_ancestors"][row] + 1 < first <= row + 1 <= last
                and last - 1 < state["history_enders"][row]
            ]
            assert window.between(n1, n2).tolist() == by_theorem == naive.between_skyline(FIGURE_2, n1, n2)
