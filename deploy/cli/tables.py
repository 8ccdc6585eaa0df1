"""The skyline as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from rich import box
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from skyline.view import View
from skyline.wire.changes import ChangeRecord, MemberRecord

_ARROWS: Final = {"min": "↓", "max": "↑"}
WIDE: Final = 100
"""Columns of a terminal from which on there is room for carried fields."""
_NARROW: Final = 72
_NAME: Final = 9
"""Letters of a dimension's name on a terminal of fewer columns than _NARROW."""
_KEY: Final = 8
"""Letters of a key that are left, however narrow the terminal is."""

Member = TypeVar("Member", MemberRecord, ChangeRecord)


def member_table(
    view: View,
    members: Iterable[Member],
    *,
    limit: int | None = None,
    width: int = WIDE,
    styles: Mapping[str, str] | None = None,
) -> Table:
    """One row per member, by group, best in the first dimension first.

    With a `limit`, every group shows its share of so many rows. `styles` are for single members, by key. On a terminal
    of little `width` carried fields are left out, long names of dimensions are cut, then keys: numbers never are.
    """
    first = view.dimensions.names[0]
    sign = view.dimensions.signs[0]
    rows = sorted(members, key=lambda member: (str(member.group), sign * member.point[first], member.key))
    shown = rows if limit is None else _fair(rows, limit)
    carry = view.carry if width >= WIDE else ()
    table = Table(caption_justify="left", header_style="bold", box=box.SIMPLE_HEAD)
    for name in view.group_by:
        table.add_column(name)
    table.add_column("key", style="cyan", min_width=_KEY)
    for name, direction in zip(view.dimensions.names, view.dimensions.directions, strict=True):
        shown_name = name if width >= _NARROW or len(name) <= _NAME else name[: _NAME - 1] + "…"
        table.add_column(f"{shown_name} {_ARROWS[direction]}", justify="right", no_wrap=True)
    for name in carry:
        table.add_column(name)
    for member in shown:
        style = styles.get(member.key) if styles else None
        table.add_row(*_cells(view, member), *[_shown(member.carry.get(name)) for name in carry], style=style)
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


def _cells(view: View, member: MemberRecord | ChangeRecord) -> list[RenderableType]:
    groups = [member.group.get(name) for name in view.group_by]
    return [*map(_cut, groups), _cut(member.key), *[f"{member.point[name]:g}" for name in view.dimensions.names]]


def _cut(value: object) -> Text:
    """A cell of one line, however narrow its column becomes: only columns that may wrap give way."""
    return Text("" if value is None else str(value), no_wrap=True, overflow="ellipsis")


def _shown(value: object) -> str:
    return "" if value is None else escape(str(value))  # rich would take [b] for bold
