"""The skyline as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from skyline.view import View
from skyline.wire.changes import MemberRecord

_ARROWS = {"min": "↓", "max": "↑"}


def member_table(view: View, members: Iterable[MemberRecord], title: str, limit: int | None = None) -> Table:
    """One row per member, by group, best in the first dimension first."""
    first = view.dimensions.names[0]
    sign = view.dimensions.signs[0]
    rows = sorted(members, key=lambda member: (str(member.group), sign * member.point[first], member.key))
    table = Table(title=title, title_justify="left", header_style="bold")
    for name in view.group_by:
        table.add_column(name, no_wrap=True)
    table.add_column("key", style="cyan", no_wrap=True)
    for name, direction in zip(view.dimensions.names, view.dimensions.directions, strict=True):
        table.add_column(f"{name} {_ARROWS[direction]}", justify="right")
    for name in view.carry:
        table.add_column(name)
    for member in rows[:limit]:
        cells = [_shown(member.group.get(name)) for name in view.group_by] + [escape(member.key)]
        cells += [f"{member.point[name]:g}" for name in view.dimensions.names]
        table.add_row(*cells, *[_shown(member.carry.get(name)) for name in view.carry])
    if limit is not None and len(rows) > limit:
        table.caption = f"and {len(rows) - limit} more"
    return table


def _shown(value: object) -> str:
    return "" if value is None else escape(str(value))  # rich would take [b] for bold
