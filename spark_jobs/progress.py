"""Says how far Spark is while a job runs, where no terminal shows Spark's own bar."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

from pyspark.sql import SparkSession

from spark_jobs.cli import note

EVERY_SECONDS: Final = 10.0


@contextmanager
def step(spark: SparkSession, what: str) -> Iterator[None]:
    """Notes the start and the duration of a step, and every ten seconds how many tasks are done."""
    note(f"{what} ...")
    started = monotonic()
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(spark, what, over), daemon=True)
    if not sys.stderr.isatty():
        watcher.start()
    try:
        yield
    finally:
        over.set()
        if watcher.is_alive():
            watcher.join()
    note(f"{what}: {monotonic() - started:.1f} s")


def _watch(spark: SparkSession, what: str, over: threading.Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not over.wait(EVERY_SECONDS):
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None:
                note(f"{what}: stage {stage}, {info.numCompletedTasks} of {info.numTasks} tasks")
