"""`python -m tests.deploy.archiving`: tells Prometheus what the archive would, without the time that Spark takes.

That Spark's progress fills the same metrics is seen in tests/spark_jobs.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry

from spark_jobs.archive_metrics import ArchiveMetrics

if __name__ == "__main__":
    metrics = ArchiveMetrics(CollectorRegistry(), ["updates"])
    metrics.serve(os.environ["SKYLINE_METRICS_HOST"], int(os.environ["SKYLINE_METRICS_PORT"]))
    while True:
        progress = {
            "timestamp": datetime.now(UTC).isoformat(),
            "numInputRows": 10,
            "sources": [{"endOffset": '{"updates": {"0": 10}}'}],
        }
        metrics.observe("updates", progress)
        time.sleep(0.5)
