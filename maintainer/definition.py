"""What a view's change log depends on, beside its updates: checkpoint and commit remember it, recovery compares."""

from __future__ import annotations

import hashlib

import orjson

from skyline.errors import SkylineError
from skyline.view import View


class ViewChanged(SkylineError):
    """What was written before was written under another definition of the view."""

    def __init__(self, view: View, witness: str) -> None:
        super().__init__(
            f"view {view.name!r} is defined otherwise than when {witness} was written: its change log would not fit; "
            f"give the changed view a new name, or restore its definition"
        )


def definition(view: View) -> str:
    """All that must not change while a view lives. The engine may: all engines share one state."""
    dimensions = list(zip(view.dimensions.names, view.dimensions.directions, strict=True))
    window = None if view.window is None else [view.window.size, view.window.span, list(view.window.watch)]
    parts = [dimensions, list(view.group_by), list(view.carry), window, view.coalesce]
    return orjson.dumps(parts).decode()


def fingerprint(view: View) -> str:
    """The definition in 16 characters, for the metadata of a committed offset."""
    return hashlib.sha256(definition(view).encode()).hexdigest()[:16]
