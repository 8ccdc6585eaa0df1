"""The skyline as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from rich import box
from rich.markup import escape
from rich.table import Table

from skyline.view import View
from skyline.wire.changes import ChangeRecord, MemberRecord

_ARROWS: Final = {"min": "↓", "max": "↑"}

Member = TypeVar("Member", MemberRecord, ChangeRecord)


def member_table(
    view: View,
    members: Iterable[Member],
    *,
    limit: int | None = None,
    carried: bool = True,
    styles: Mapping[str, str] | None = None,
) -> Table:
    """One row per member, by group, best in the first dimension first.

    With a `limit`, every group shows its share of so many rows. `styles` are for single members, by key.
    """
    first = view.dimensions.names[0]
    sign = view.dimensions.signs[0]
    rows = sorted(members, key=lambda member: (str(member.group), sign * member.point[first], member.key))
    shown = rows if limit is None else _fair(rows, limit)
    carry = view.carry if carried else ()
    table = Table(caption_justify="left", header_style="bold", box=box.SIMPLE_HEAD)
    for name in view.group_by:
        table.add_column(name, no_wrap=True)
    table.add_column("key", style="cyan", no_wrap=True)
    for name, direction in zip(view.dimensions.names, view.dimensions.directions, strict=True):
        table.add_column(f"{name} {_ARROWS[direction]}", justify="right", no_wrap=True)
    for name in carry:
        table.add_column(name)
    for member in shown:
        cells = [_shown(member.group.get(name)) for name in view.group_by] + [escape(member.key)]
        cells += [f"{member.point[name]:g}" for name in view.dimensions.names]
        style = styles.get(member.key) if styles else None
        table.add_row(*cells, *[_shown(member.carry.get(name)) for name in carry], style=style)
    if len(shown) < len(rows):
        table.caption = f"  and {len(rows) - len(shown)} more"
    return table


def _fair(rows: Sequence[Member], limit: int) -> list[Member]:
    """The first rows of each group, so that small groups are whole before large ones take what is left."""
    groups: dict[str, list[Member]] = {}
    for row in rows:
        groups.setdefault(str(row.group), []).append(row)
    kept: dict[str, int] = {}
    for waiting, (name, held) in zip(
        range(len(groups), 0, -1), sorted(groups.items(), key=lambda group: len(group[1])), strict=True
    ):
        kept[name] = min(len(held), (limit - sum(kept.values())) // waiting)
    return [row for name, held in groups.items() for row in held[: kept[name]]]


def _shown(value: object) -> str:
    return "" if value is None else escape(str(value))  # rich would take [b] for bold
