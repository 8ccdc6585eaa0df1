"""What the page about a view's past shows: a few thousand numbers from Spark's tables, however long the log."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skyline.errors import InvalidInput
from spark_jobs.history import churn, displacements, lifetimes, longest, memberships
from spark_jobs.history_page import page
from spark_jobs.periods import DURATIONS, extent, nice_period
from spark_jobs.tables import shown

KEYS: Final = 40
"""Objects on the timeline: as many as can be told apart on one screen."""

STAYS: Final = 4000
"""Stays on the timeline at most; the longest ones."""

PERIODS: Final = 10_000
"""Periods that a browser still draws at once, and more than there are pixels."""

PAIRS: Final = 12
_VALUES: Final = ("point", "group", "carry")


def write_report(view: str, changes: DataFrame, period: int | None, path: Path) -> None:
    """Writes the page; `period` in milliseconds, by default one that gives about a hundred periods."""
    facts = report(view, changes, period)
    path.write_text(page(f"{view}: its skyline over time", facts), encoding="utf-8")


def report(view: str, changes: DataFrame, period: int | None = None) -> dict[str, Any]:
    """Everything on the page, as JSON can hold it; times in milliseconds."""
    first, last, count = extent(changes)
    period = period or nice_period(last - first)
    if (last - first) // period >= PERIODS:
        raise InvalidInput(f"a page shows {PERIODS:,} periods at most, these are {(last - first) // period + 1:,}")
    # values are needed of a few objects only: without them a stay is a tenth of its size
    bare = changes.withColumns({name: F.lit(None).cast(changes.schema[name].dataType) for name in _VALUES})
    stays = memberships(bare).drop(*_VALUES, "first_point", "last_point", "enter_reason", "enter_by").persist()
    try:
        ranked = longest(stays).limit(KEYS).collect()
        summary = stays.agg(
            F.count("*").alias("stays"),
            F.countDistinct("key").alias("keys"),
            F.median(F.when(F.col("left_at").isNotNull(), F.col("lasted"))).alias("median"),
        ).first()
        assert summary is not None
        periods = churn(changes, period).collect()
        return {
            "view": view,
            "first": first,
            "last": last,
            "period": period,
            "totals": {"changes": count, "members": periods[-1].members, **summary.asDict()},
            "timeline": _timeline(changes, [row.key for row in ranked]),
            "longest": [
                {
                    "key": row.key,
                    "total": row.total,
                    "longest": row.longest,
                    "stays": row.stays,
                    "moves": row.moves,
                    "member": row.is_member,
                }
                for row in ranked
            ],
            "churn": [_jsonable(row.asDict()) for row in periods],
            "durations": [bound / 1000 for bound in DURATIONS],
            "lifetimes": [row.asDict() for row in lifetimes(stays).collect()],
            "displacements": [_jsonable(row.asDict()) for row in displacements(stays).limit(PAIRS).collect()],
        }
    finally:
        stays.unpersist()


def _timeline(changes: DataFrame, keys: list[str]) -> list[dict[str, Any]]:
    stays = memberships(changes.where(F.col("key").isin(keys)))
    rows = stays.orderBy(F.desc_nulls_first("lasted")).limit(STAYS)
    return [
        {
            "key": row.key,
            "from": _milliseconds(row.entered_at),
            "to": _milliseconds(row.left_at),
            "end": row.leave_reason or "member",
            "by": row.leave_by if row.leave_reason == "dominated" else None,
            "point": shown(row.last_point),
        }
        for row in rows.collect()
    ]


def _jsonable(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _milliseconds(value) if isinstance(value, datetime) else value for name, value in row.items()}


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)
