"""`python -m maintainer --views views.toml`: the composition root."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from maintainer.config import MaintainerConfig
from maintainer.service import ViewService
from maintainer.state import warm_up
from skyline.runtime.config import chosen_view, configure, load_views
from skyline.runtime.health import HealthServer
from skyline.runtime.metrics import Metrics
from skyline.runtime.process import run, set_up_logging, stop_on_signals
from skyline.runtime.topics import ensure_topics
from skyline.view import View

_log = logging.getLogger("maintainer")


def main(argv: Sequence[str]) -> int:
    config = configure(MaintainerConfig, argv)
    config.check()
    set_up_logging(config.log_level)
    views = _chosen(config)
    for view in views:
        ensure_topics(config.kafka, view, replication=config.replication)
        warm_up(view)
    stop = stop_on_signals()
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    metrics = Metrics(registry)
    services = [ViewService(view, config, metrics, stop) for view in views]
    health = HealthServer(
        config.metrics_host,
        config.metrics_port,
        registry,
        alive=lambda: _first([service.alive() for service in services]),
        ready=lambda: _first([service.ready() for service in services]),
    )
    _log.info("serving %s on %s:%d", ", ".join(view.name for view in views), config.metrics_host, health.port)
    for service in services:
        service.start()
    stop.wait()
    _log.info("stopping")
    for service in services:
        service.join()
    health.close()
    if any(service.failure is not None for service in services):
        logging.shutdown()
        os._exit(1)  # crash-only: a thread that still waits for the broker must not delay the restart
    return 0


def _chosen(config: MaintainerConfig) -> list[View]:
    views = load_views(config.views)
    names = [name.strip() for name in config.only.split(",") if name.strip()]
    return [chosen_view(views, name) for name in dict.fromkeys(names)] if names else list(views.values())


def _first(troubles: list[str | None]) -> str | None:
    return next((trouble for trouble in troubles if trouble is not None), None)


if __name__ == "__main__":
    run(main)
