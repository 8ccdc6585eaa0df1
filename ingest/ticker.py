"""`python -m ingest tick`: the time, once in a while, so that objects expire in silence too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from ingest.batch import Batch
from ingest.check import wall_clock
from ingest.delivery import Delivery
from ingest.outbox import Outbox
from ingest.publisher import Publisher
from ingest.startup import named_views, new_metrics, parser_for, prepare_topics, serve_metrics
from skyline.errors import InvalidInput
from skyline.runtime.config import ServiceConfig, configure, load_views, setting
from skyline.runtime.metrics import Metrics
from skyline.runtime.process import set_up_logging, stop_on_signals
from skyline.view import View
from skyline.wire.updates import TICK

_TIMEOUT: Final = 60.0
_LONGEST: Final = 86_400
"""Seconds, a day: who wants fewer ticks than that wants none."""


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
    if not 0 < config.interval <= _LONGEST:
        raise InvalidInput(f"--interval must be more than 0 and at most {_LONGEST} seconds, got {config.interval}")
    views = list(named_views(load_views(config.views), config.view).values())
    stop = stop_on_signals()
    prepare_topics(config.kafka, views, config.replication, stop)
    metrics = new_metrics()
    with ExitStack() as stack:
        publisher = Publisher(config.kafka, _TIMEOUT, stop, linger_ms=0)
        stack.callback(publisher.drop)
        serve_metrics(stack, config.metrics_host, config.metrics_port, metrics, publisher.trouble)
        outboxes = [Outbox(publisher, view.topic("updates"), stop, _counted(metrics, view)) for view in views]
        while not stop.is_set():
            for outbox in outboxes:
                outbox.send(Batch([TICK.encode()], [None], [wall_clock()]))
            stop.wait(config.interval)
        for outbox in outboxes:
            outbox.finish()
    return 0


def _counted(metrics: Metrics, view: View) -> Callable[[Delivery], None]:
    return lambda delivery: metrics.sent.labels(view.name, "tick").inc(delivery.count)
