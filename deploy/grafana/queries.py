"""PromQL that several panels share. Every expression minds the variables of its dashboard."""

from __future__ import annotations

from typing import Final

from deploy.grafana.model import Query

VIEW: Final = 'view=~"$view"'
PLACE: Final = 'view=~"$view", instance=~"$instance"'
_WINDOW: Final = "1m"


def rate(metric: str, by: str, where: str = VIEW, legend: str = "") -> Query:
    """How often per second, over the last minute."""
    return Query(f"sum by ({by}) (rate({metric}{{{where}}}[{_WINDOW}]))", legend or _names(by))


def quantiles(metric: str, by: str, where: str = VIEW) -> list[Query]:
    """Median and 99th percentile of a histogram."""
    return [
        Query(
            f"histogram_quantile({share}, sum by ({by}, le) (rate({metric}_bucket{{{where}}}[{_WINDOW}])))",
            f"{_names(by)} {name}",
        )
        for share, name in ((0.5, "p50"), (0.99, "p99"))
    ]


def gauge(metric: str, by: str, where: str = VIEW) -> Query:
    """The largest value as of now."""
    return Query(f"max by ({by}) ({metric}{{{where}}})", _names(by))


def _names(by: str) -> str:
    return " ".join(f"{{{{{label.strip()}}}}}" for label in by.split(","))
