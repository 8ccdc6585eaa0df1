"""The Spark session of a job: this machine's cores by default, the cluster's under spark-submit."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

_LEAST_MEMORY: Final = 1 << 30
_MOST_MEMORY: Final = 8 << 30


def open_session(name: str, master: str | None = None, *, kafka: bool = False) -> SparkSession:
    """A session for the job `name`; the one that runs already, if there is one.

    Under spark-submit its settings stand: the Kafka connector is given there with --packages or --jars. Otherwise
    the session is local (`master` defaults to local[*]), quiet, on loopback, and with `kafka` it has the connector's
    jars from the project's cache.
    """
    builder: SparkSession.Builder = SparkSession.builder.appName(f"skyline {name}")
    if SparkSession.getActiveSession() is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        builder = builder.master(master or "local[*]")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        for key, value in local_settings(kafka=kafka).items():
            builder = builder.config(key, value)
    elif master is not None:
        builder = builder.master(master)
    session = builder.getOrCreate()
    # times in reports and partitions by date mean the same everywhere
    session.conf.set("spark.sql.session.timeZone", "UTC")
    # as readers other than Spark know them, and with statistics, so that a search by time skips files
    session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    # rows that one Arrow batch brings to Python: the kernels like 64K better than the default of 10,000
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
    return session


def local_settings(*, kafka: bool) -> dict[str, str]:
    """What a session on this machine is started with."""
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": f"{_memory() >> 20}m",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
        "spark.sql.shuffle.partitions": str(max(4, 2 * (os.cpu_count() or 1))),
    }
    if kafka:
        from deploy.local.jars import SPARK_KAFKA, jars  # only here: a cluster has no cache of ours

        settings["spark.jars"] = ",".join(str(jar) for jar in jars(SPARK_KAFKA))
    return settings


def _memory() -> int:
    """A quarter of this machine's memory, within reason."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(_LEAST_MEMORY, min(_MOST_MEMORY, physical // 4))
