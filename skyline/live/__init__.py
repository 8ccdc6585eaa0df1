"""Continuous skylines of keyed objects that come, move, expire and go."""

from skyline.live.changes import Change, Changes
from skyline.live.explanation import Explanation
from skyline.live.skyline import Skyline

__all__ = ["Change", "Changes", "Explanation", "Skyline"]
