"""`python -m deploy.images.warm`: compiles into numba's cache what maintainer and query need, for any view."""

from __future__ import annotations

from typing import Final

import maintainer.state
import query.warm
from skyline.view import views_of

_SHAPES: Final = {
    "plain": {"dimensions": {"a": "min", "b": "max"}},
    "grouped": {"dimensions": {"a": "min", "b": "max"}, "group_by": ["g"], "carry": ["c"]},
    "counted": {"dimensions": {"a": "min", "b": "max"}, "window": {"size": 1000}},
    "timed": {"dimensions": {"a": "min", "b": "max"}, "window": {"span": "1h"}},
}
"""Kernels differ by the kind of a view, not by its names or the number of its dimensions."""


def main() -> None:
    for view in views_of(_SHAPES).values():
        maintainer.state.warm_up(view)
        query.warm.warm_up(view)


if __name__ == "__main__":
    main()
