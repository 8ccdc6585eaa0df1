"""Which table a view has."""

from __future__ import annotations

from query.keyed import KeyedTable
from query.table import Table
from query.windowed import WindowTable
from skyline.view import View


def table_for(view: View, keep: float) -> Table:
    """The table of a view, of whichever kind; records that were replaced stay for `keep` seconds."""
    return KeyedTable(view, keep) if view.window is None else WindowTable(view, keep)
