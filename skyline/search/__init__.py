"""Best-first search over a packed R-tree: BBS and its variations."""

from skyline.search.approximation import Approximation
from skyline.search.frozen import FrozenIndex
from skyline.search.index import SkylineIndex
from skyline.search.members import Members

__all__ = ["Approximation", "FrozenIndex", "Members", "SkylineIndex"]
