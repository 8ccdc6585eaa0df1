"""`python -m ingest generate`: a made-up spot market, at a steady rate."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from ingest.delivery import Delivery
from ingest.outbox import Outbox
from ingest.publisher import Publisher
from ingest.startup import new_metrics, only_view, parser_for, prepare_topics, serve_metrics
from ingest.workloads.market import market
from skyline.errors import InvalidInput
from skyline.runtime.config import ServiceConfig, configure, load_views, setting
from skyline.runtime.metrics import Metrics
from skyline.runtime.process import set_up_logging, stop_on_signals
from skyline.view import View
from skyline.wire.rejects import Rejected
from skyline.wire.updates import read_update

_log = logging.getLogger("ingest.generate")
_BATCHES_PER_SECOND: Final = 20
_LARGEST_BATCH: Final = 5_000
_TIMEOUT: Final = 60.0


@dataclass(frozen=True)
class GenerateConfig(ServiceConfig):
    """Publishes a made-up spot market: instance types in zones, wandering prices, offers that expire."""

    view: str = setting("", "view to publish to; not needed where there is only one")
    rate: float = setting(300.0, "updates per second; 0 is as fast as the broker takes them")
    count: int = setting(0, "end after this many updates; 0 goes on")
    seconds: float = setting(0.0, "end after this long; 0 goes on")
    seed: int = setting(1, "the same seed and start give the same updates")
    start: int = setting(0, "event time of the first update in milliseconds; 0 is now")
    replication: int = setting(-1, "replication factor of a topic it creates; -1 is the broker's default")
    metrics_host: str = setting("127.0.0.1", "address for /metrics")
    metrics_port: int = setting(-1, "port for /metrics; 0 takes a free one, -1 serves none")


def main(argv: Sequence[str]) -> int:
    config = configure(GenerateConfig, argv, parser_for("generate", GenerateConfig))
    set_up_logging(config.log_level)
    view = only_view(load_views(config.views), config.view)
    _check_fit(view)
    stop = stop_on_signals()
    prepare_topics(config.kafka, [view], config.replication, stop)
    metrics = new_metrics()
    with ExitStack() as stack:
        serve_metrics(stack, config.metrics_host, config.metrics_port, metrics, alive=lambda: None)
        sent = _publish(config, view, metrics, stop)
    _log.info("%s: %d updates sent", view.name, sent)
    return 0


def _check_fit(view: View) -> None:
    """Refuses a view that would reject what the market says."""
    batch = next(market(seed=1, start=0, step=1.0, size=100))
    for key, value in zip(batch.keys, batch.values, strict=True):
        result = read_update(view, key, value)
        if isinstance(result, Rejected):
            raise InvalidInput(f"the market does not fit view {view.name!r}: {result.message}")


def _publish(config: GenerateConfig, view: View, metrics: Metrics, stop: threading.Event) -> int:
    size = min(max(round(config.rate / _BATCHES_PER_SECOND), 1), _LARGEST_BATCH) if config.rate else _LARGEST_BATCH
    step = 1000 / config.rate if config.rate else 1.0
    sent = 0

    def acknowledged(delivery: Delivery) -> None:
        nonlocal sent
        sent += delivery.count
        metrics.sent.labels(view.name, "generate").inc(delivery.count)

    publisher = Publisher(config.kafka, _TIMEOUT, stop)
    outbox = Outbox(publisher, view.topic("updates"), stop, acknowledged)
    started = time.monotonic()
    batches = market(config.seed, config.start or int(time.time() * 1000), step, size)
    try:
        for number in itertools.count():
            left = config.count - number * size if config.count else size
            over = config.seconds and time.monotonic() - started >= config.seconds
            if left <= 0 or over or stop.is_set():
                break
            outbox.send(next(batches)[: min(left, size)])
            if config.rate:
                stop.wait(max(0.0, started + (number + 1) * size / config.rate - time.monotonic()))
        outbox.finish()
    finally:
        publisher.drop()
    return sent
