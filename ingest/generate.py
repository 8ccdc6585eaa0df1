"""`python -m ingest generate`: a made-up spot market, or a workload of the papers, at a steady rate."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ingest.batch import Batch
from ingest.check import wall_clock
from ingest.outbox import Outbox
from ingest.publisher import Publisher
from ingest.startup import new_metrics, only_view, parser_for, prepare_topics, serve_metrics
from ingest.workloads.catalogue import WORKLOADS
from ingest.workloads.plan import Plan, Row, Workload
from ingest.workloads.points import DISTRIBUTIONS
from skyline.errors import InvalidInput
from skyline.runtime.config import ServiceConfig, configure, load_views, setting
from skyline.runtime.process import set_up_logging, stop_on_signals
from skyline.view import View
from skyline.wire.rejects import Rejected
from skyline.wire.updates import read_update

_log = logging.getLogger("ingest.generate")
SOURCE: Final = "generate"
_BATCHES_PER_SECOND: Final = 20
_LARGEST_BATCH: Final = 5_000
_TIMEOUT: Final = 60.0
_TRIED: Final = 100
"""Updates that are checked against the view before the first one is sent: all of a workload are alike."""

_UNPACED_STEP: Final = 0.01
"""Milliseconds between updates sent as fast as possible: event time should not run far ahead of the clock."""


@dataclass(frozen=True)
class GenerateConfig(ServiceConfig):
    """Publishes made-up updates: a spot market (instance types in zones, wandering prices, offers that expire), or the
    workloads of the papers, which fit any view: esc (objects that walk), lookout (that arrive and expire), window (a
    stream that only grows), snapshots (many small moves at one moment)."""

    view: str = setting("", "view to publish to; not needed where there is only one")
    workload: str = setting("market", f"one of {', '.join(WORKLOADS)}")
    rate: float = setting(300.0, "updates per second; 0 is as fast as the broker takes them")
    count: int = setting(0, "end after this many updates; 0 goes on")
    seconds: float = setting(0.0, "end after this long; 0 goes on")
    seed: int = setting(1, "the same seed, start, rate and workload give the same updates")
    start: int = setting(0, "event time of the first update in milliseconds; 0 is now")
    objects: int = setting(1000, "objects of esc and snapshots; arrivals in a span of lookout")
    groups: int = setting(3, "values that each group field takes; not in the market")
    distribution: str = setting("", f"{', '.join(DISTRIBUTIONS)}; default: the paper's; not in the market")
    replication: int = setting(-1, "replication factor of a topic it creates; -1 is the broker's default")
    metrics_host: str = setting("127.0.0.1", "address for /metrics")
    metrics_port: int = setting(-1, "port for /metrics; 0 takes a free one, -1 serves none")

    def check(self) -> None:
        """Raises InvalidInput for what cannot be generated."""
        if self.workload not in WORKLOADS:
            raise InvalidInput(f"--workload must be one of {', '.join(WORKLOADS)}, got {self.workload!r}")
        if self.distribution and self.distribution not in DISTRIBUTIONS:
            raise InvalidInput(f"--distribution must be one of {', '.join(DISTRIBUTIONS)}, got {self.distribution!r}")
        for name in ("rate", "count", "seconds", "start"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise InvalidInput(f"--{name} must be 0 or more, got {getattr(self, name)}")
        for name in ("objects", "groups"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"--{name} must be at least 1, got {getattr(self, name)}")


def main(argv: Sequence[str]) -> int:
    config = configure(GenerateConfig, argv, parser_for("generate", GenerateConfig))
    set_up_logging(config.log_level)
    config.check()
    view = only_view(load_views(config.views), config.view)
    rows = _rows(config, view)
    stop = stop_on_signals()
    prepare_topics(config.kafka, [view], config.replication, stop)
    metrics = new_metrics()
    with ExitStack() as stack:
        publisher = Publisher(config.kafka, _TIMEOUT, stop)
        stack.callback(publisher.drop)
        serve_metrics(stack, config.metrics_host, config.metrics_port, metrics, publisher.trouble)
        count = metrics.sent.labels(view.name, SOURCE).inc
        outbox = Outbox(publisher, view.topic("updates"), stop, lambda delivery: count(delivery.count))
        for batch in _paced(config, rows, stop):
            outbox.send(batch)
        outbox.finish()
    _log.info("%s: %d updates sent", view.name, outbox.written)
    return 0


def _rows(config: GenerateConfig, view: View) -> Iterator[Row]:
    """The updates. Raises InvalidInput for a view that would reject them."""
    workload = WORKLOADS[config.workload]
    step = 1000 / config.rate if config.rate else _UNPACED_STEP
    start = config.start or wall_clock()
    plan = Plan(view, config.seed, start, step, config.objects, config.groups, config.distribution)
    _check_fit(config.workload, workload, plan)
    return islice(workload(plan), config.count or None)


def _check_fit(name: str, workload: Workload, plan: Plan) -> None:
    for key, value, _ in islice(workload(plan), _TRIED):
        result = read_update(plan.view, key, value)
        if isinstance(result, Rejected):
            hint = "; esc, lookout and snapshots fit any view" if name == "market" else ""
            raise InvalidInput(f"--workload {name} does not fit view {plan.view.name!r}: {result.message}{hint}")


def _paced(config: GenerateConfig, rows: Iterator[Row], stop: threading.Event) -> Iterator[Batch]:
    """Batches, each when it is due, until all are sent, time is up or a signal came."""
    size = min(max(round(config.rate / _BATCHES_PER_SECOND), 1), _LARGEST_BATCH) if config.rate else _LARGEST_BATCH
    started = time.monotonic()
    end = started + config.seconds if config.seconds else float("inf")
    taken = 0
    while not stop.is_set() and time.monotonic() < end and (chunk := list(islice(rows, size))):
        keys, values, timestamps = zip(*chunk, strict=True)
        yield Batch(keys, values, timestamps)
        taken += len(chunk)
        if config.rate:
            stop.wait(max(0.0, min(started + taken / config.rate, end) - time.monotonic()))
