"""What every source does before its first update: topics that are there and fit, and metrics that can be scraped."""

from __future__ import annotations

import argparse
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Final

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from skyline.errors import InvalidInput, SkylineError
from skyline.runtime.config import KafkaSettings, ServiceConfig, chosen_view
from skyline.runtime.health import HealthServer, Probe
from skyline.runtime.metrics import Metrics
from skyline.runtime.topics import ensure_topics
from skyline.view import View

_log = logging.getLogger("ingest")
_SILENCE: Final = 2.0
"""Seconds that a person waits before wondering what for."""


class Interrupted(SkylineError):
    """A signal came while the process waited for something."""


def parser_for(source: str, config: type[ServiceConfig]) -> argparse.ArgumentParser:
    """A parser that calls the program by the name it was started with."""
    return argparse.ArgumentParser(prog=f"python -m ingest {source}", description=(config.__doc__ or "").strip())


def only_view(views: Mapping[str, View], name: str) -> View:
    """The view of that name; no name is needed where there is only one view."""
    if not name and len(views) > 1:
        raise InvalidInput(f"--view is needed: which of {', '.join(sorted(views))}?")
    return chosen_view(views, name or next(iter(views)))


def named_views(views: Mapping[str, View], names: str) -> dict[str, View]:
    """The views of these names, comma separated; all of them where none is named."""
    chosen = [name.strip() for name in names.split(",") if name.strip()] or list(views)
    return {name: chosen_view(views, name) for name in chosen}


def new_metrics() -> Metrics:
    """This process's metrics, with those of Python and the operating system."""
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    return Metrics(registry)


def serve_metrics(stack: ExitStack, host: str, port: int, metrics: Metrics, alive: Probe) -> None:
    """Serves /metrics, /healthz and /readyz until the stack unwinds; not at all when `port` is negative."""
    if port > 65_535:
        raise InvalidInput(f"--metrics-port must be a port, 0 to 65535, or -1 for none, got {port}")
    if port >= 0:
        server = HealthServer(host, port, metrics.registry, alive=alive, ready=alive)
        stack.callback(server.close)
        _log.info("metrics at http://%s:%d/metrics", host, server.port)


def prepare_topics(kafka: KafkaSettings, views: Sequence[View], replication: int, stop: threading.Event) -> None:
    """Creates or checks the updates topic of each view. A signal ends the wait for a broker that does not answer."""
    failures: list[BaseException] = []
    finished = threading.Event()

    def work() -> None:
        try:
            for view in views:
                ensure_topics(kafka, view, ("updates",), replication)
        except BaseException as failure:  # raised again below, in the thread that waits
            failures.append(failure)
        finished.set()

    # the client's calls cannot be interrupted: they run aside, where the process may leave them behind
    threading.Thread(target=work, name="topics", daemon=True).start()
    notice = time.monotonic() + _SILENCE
    while not finished.wait(0.05):
        if time.monotonic() > notice:
            _log.info("waiting for a broker at %s (`skyline kafka start` runs one here)", kafka.bootstrap)
            notice = float("inf")
        if stop.is_set():
            raise Interrupted("interrupted before a broker answered; nothing was sent")
    if failures:
        raise failures[0]
