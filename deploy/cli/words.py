"""A change in words."""

from __future__ import annotations

from typing import Final

from skyline.wire.changes import ChangeRecord

STYLES: Final = {"enter": "green", "move": "yellow", "leave": "red"}
SIGNS: Final = {"enter": "+", "move": "~", "leave": "-"}

_WHY = {
    ("enter", "inserted"): "entered: new",
    ("enter", "moved"): "entered: it moved",
    ("enter", "promoted"): "entered: its dominator {by} left, moved or expired",
    ("move", "moved"): "moved",
    ("leave", "dominated"): "left: {by} dominates it",
    ("leave", "moved"): "left: it moved and is dominated now",
    ("leave", "deleted"): "left: it was deleted",
    ("leave", "expired"): "left: it expired",
}


def in_words(change: ChangeRecord) -> str:
    """Such as "h7 entered: its dominator h2 left, moved or expired (price 80, rating 4.1), 14 members"."""
    why = _WHY[change.op, change.reason].format(by=change.by)
    point = ", ".join(f"{name} {value:g}" for name, value in change.point.items())
    return f"{change.key} {why} ({point}), {change.size} members"
