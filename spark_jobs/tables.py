"""Rows on the terminal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame
from rich.console import Console
from rich.table import Table


def show(rows: DataFrame, limit: int, title: str) -> None:
    """Prints the first `limit` rows, and whether there are more."""
    found = rows.limit(limit + 1).collect()
    console = Console(width=None if Console().is_terminal else 160)
    table = Table(title=title, title_justify="left", header_style="bold")
    for name, kind in rows.dtypes:
        table.add_column(name, justify="right" if kind in ("bigint", "int", "double") else "left", overflow="fold")
    for row in found[:limit]:
        table.add_row(*[shown(value) for value in row])
    console.print(table)
    if len(found) > limit:
        console.print(f"... and more: --limit shows more than {limit} rows, --out writes all")


def shown(value: Any) -> str:
    """One value as a person reads it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    if isinstance(value, dict):
        return " ".join(f"{name}={shown(part)}" for name, part in value.items())
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    return str(value)
