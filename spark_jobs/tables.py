"""Rows on the terminal."""

from __future__ import annotations

from datetime import datetime
from math import floor, log10
from typing import Any

from pyspark.sql import DataFrame
from rich.console import Console
from rich.table import Table
from rich.text import Text


def show(rows: DataFrame, limit: int, title: str) -> None:
    """Prints the first `limit` rows, and whether there are more."""
    found = rows.limit(limit + 1).collect()
    console = Console(width=None if Console().is_terminal else 160)
    table = Table(title=title, title_justify="left", header_style="bold")
    # Text, for a string is markup to rich: of a key [red] nothing would be seen
    for name, kind in rows.dtypes:
        table.add_column(
            Text(name), justify="right" if kind in ("bigint", "int", "double") else "left", overflow="fold"
        )
    for row in found[:limit]:
        table.add_row(*[Text(shown(value)) for value in row])
    console.print(table)
    if len(found) > limit:
        console.print(f"... and more: --limit shows more than {limit} rows, --out writes all")


def shown(value: Any) -> str:
    """One value as a person reads it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    if isinstance(value, dict):
        return " ".join(f"{name}={shown(part)}" for name, part in value.items())
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    return str(value)


def number(value: float) -> str:
    """Three decimals, or as many as it takes for four digits that count.

    >>> number(1234.5), number(0.021), number(0.00001234), number(1e300), number(-0.0), number(2.0)
    ('1,234.5', '0.021', '0.00001234', '1e+300', '0', '2')
    """
    size = abs(value)
    if not 1e-9 < size < 1e15:  # infinities and NaN too
        return "0" if value == 0 else f"{value:.4g}"
    decimals = max(3, 3 - floor(log10(size)))
    return f"{value:,.{decimals}f}".rstrip("0").rstrip(".")
