"""What an archive that goes on for ever tells Prometheus, and its health check: any path answers while it runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector, start_http_server


class ArchiveMetrics:
    """The metrics of each topic that is archived, from the progress that Spark reports of its query."""

    def __init__(self, registry: CollectorRegistry, topics: Iterable[str] = ()) -> None:
        """`topics` are there from the start, so that one whose first batch never ends grows old too."""
        self._registry = registry
        topic = ["topic"]
        self.records = Counter("skyline_archive_records_total", "Records archived", topic, registry=registry)
        self.offset = Gauge("skyline_archive_offset", "Offset up to which all is archived", topic, registry=registry)
        self.time = Gauge(
            "skyline_archive_time_seconds",
            "When the archive last began a batch or found nothing new, in seconds since 1970",
            topic,
            registry=registry,
        )
        for name in topics:
            self.records.labels(name)
            self.time.labels(name).set(time.time())

    def observe(self, topic: str, progress: Any) -> None:
        """Takes note of a batch, or of the word that there was nothing to do, once."""
        began = datetime.fromisoformat(progress["timestamp"]).timestamp()
        self.records.labels(topic).inc(progress["numInputRows"])
        self.time.labels(topic).set(began)
        end = progress["sources"][0]["endOffset"]
        if end:
            self.offset.labels(topic).set(json.loads(end)[topic]["0"])

    def serve(self, host: str, port: int) -> None:
        """Answers on this port until the process ends."""
        ProcessCollector(registry=self._registry)
        start_http_server(port, host, self._registry)
