"""Names in PromQL and what dashboards and rules may name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from skyline.runtime.metrics import Metrics
from spark_jobs.archive_metrics import ArchiveMetrics

_HISTOGRAM = ("_bucket", "_sum", "_count")
OF_PROMETHEUS = {"up", "ALERTS"}


def metrics_in(expression: str) -> set[str]:
    """Every metric that the expression names: ours, the client library's and Prometheus's own."""
    bare = re.sub(r'"[^"]*"', "", expression)
    return set(re.findall(r"\b(?:view:skyline_\w+:\w+|skyline_\w+|process_\w+|python_\w+|up|ALERTS)\b", bare))


def declared() -> set[str]:
    """Every series that a service can show."""
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    Metrics(registry)
    ArchiveMetrics(registry)
    names = set()
    for family in registry.collect():
        full = f"{family.name}_total" if family.type == "counter" else family.name
        names |= {full + ending for ending in _HISTOGRAM} if family.type == "histogram" else {full}
    return names | OF_PROMETHEUS


def rules(home: Path) -> list[dict[str, Any]]:
    """Every rule of the files in `home`/rules."""
    documents = [yaml.safe_load(path.read_text()) for path in sorted((home / "rules").glob("*.yml"))]
    return [rule for document in documents for group in document["groups"] for rule in group["rules"]]
