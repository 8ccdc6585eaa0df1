"""`python -m ingest tick`: the time, once in a while, so that objects expire in silence too."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from ingest.batch import Batch
from ingest.publisher import FLUSH_SECONDS, Delivery, DeliveryFailed, Publisher
from ingest.startup import new_metrics, parser_for, prepare_topics, serve_metrics
from skyline.errors import InvalidInput
from skyline.runtime.config import ServiceConfig, chosen_view, configure, load_views, setting
from skyline.runtime.process import set_up_logging, stop_on_signals
from skyline.wire.updates import TICK

_TIMEOUT: Final = 60.0


@dataclass(frozen=True)
class TickConfig(ServiceConfig):
    """Sends the time to views, so that what is due falls due although no update comes."""

    view: str = setting("", "tick only these views, comma separated; default: all")
    interval: float = setting(1.0, "seconds between ticks")
    replication: int = setting(-1, "replication factor of a topic it creates; -1 is the broker's default")
    metrics_host: str = setting("127.0.0.1", "address for /metrics")
    metrics_port: int = setting(-1, "port for /metrics; 0 takes a free one, -1 serves none")


def main(argv: Sequence[str]) -> int:
    config = configure(TickConfig, argv, parser_for("tick", TickConfig))
    set_up_logging(config.log_level)
    if config.interval <= 0:
        raise InvalidInput(f"--interval must be more than 0 seconds, got {config.interval}")
    defined = load_views(config.views)
    names = [name.strip() for name in config.view.split(",") if name.strip()]
    views = [chosen_view(defined, name) for name in names] or list(defined.values())
    stop = stop_on_signals()
    prepare_topics(config.kafka, views, config.replication, stop)
    metrics = new_metrics()
    failed: list[str] = []

    def done(delivery: Delivery) -> None:
        trouble = delivery.trouble()
        if trouble:
            failed.append(trouble)

    with ExitStack() as stack:
        serve_metrics(stack, config.metrics_host, config.metrics_port, metrics, alive=lambda: None)
        publisher = Publisher(config.kafka, _TIMEOUT, stop, linger_ms=0)
        while not stop.is_set() and not failed:
            now = int(time.time() * 1000)
            for view in views:
                publisher.send(view.topic("updates"), Batch([TICK.encode()], [None], [now]), done)
                metrics.sent.labels(view.name, "tick").inc()
            publisher.poll(0)
            stop.wait(config.interval)
        publisher.flush(FLUSH_SECONDS)
    if failed:
        raise DeliveryFailed(f"a tick was not written: {failed[0]}")
    return 0
