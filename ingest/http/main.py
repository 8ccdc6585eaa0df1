"""`python -m ingest http`: composes the service and runs it until a signal."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import ExitStack

from ingest.check import Checker
from ingest.delivery import DeliveryFailed
from ingest.http.app import add_probes, make_app
from ingest.http.config import HttpConfig
from ingest.http.endpoint import Limits, UpdatesEndpoint
from ingest.http.gate import Gate
from ingest.http.sender import Sender
from ingest.http.server import listen, serve
from ingest.publisher import Publisher
from ingest.startup import named_views, new_metrics, parser_for, prepare_topics
from skyline.runtime.config import configure, load_views
from skyline.runtime.health import Probe
from skyline.runtime.process import set_up_logging, stop_on_signals
from skyline.view import parse_duration

_log = logging.getLogger("ingest.http")
_LINGER_MS = 1.0
"""A request waits for this: short, because it is most of what one update costs."""


def main(argv: Sequence[str]) -> int:
    config = configure(HttpConfig, argv, parser_for("http", HttpConfig))
    set_up_logging(config.log_level)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    config.check()
    views = named_views(load_views(config.views), config.view)
    checkers = {name: Checker(view, parse_duration(config.max_ahead)) for name, view in views.items()}
    for checker in checkers.values():
        checker.warm_up()
    stop = stop_on_signals()
    metrics = new_metrics()
    with ExitStack() as stack:
        listener = stack.enter_context(listen(config.host, config.port))
        prepare_topics(config.kafka, list(views.values()), config.replication, stop)
        publisher = Publisher(config.kafka, config.timeout, stop, _LINGER_MS, watch_brokers=True)
        sender = Sender(publisher, stop)
        stack.callback(sender.close)
        gate = Gate(config.max_in_flight, config.max_held, config.max_lag)
        metrics.ingest_in_flight.set_function(lambda: gate.updates)
        limits = Limits(config.max_body, config.max_batch)
        app = make_app(views, UpdatesEndpoint(views, checkers, gate, sender, limits, metrics))
        add_probes(app, metrics.registry, publisher.trouble, _ready(publisher, gate, stop))
        host, port = listener.getsockname()[:2]
        _log.info("taking updates of %s at http://%s:%d/views/VIEW/updates", ", ".join(views), host, port)
        serve(app, listener, stop, publisher.drop)
    if publisher.fatal is not None:
        raise DeliveryFailed(f"the producer cannot go on: {publisher.trouble()}")
    return 0


def _ready(publisher: Publisher, gate: Gate, stop: threading.Event) -> Probe:
    def trouble() -> str | None:
        if stop.is_set():
            return "ending"
        if gate.lagging():
            return f"the broker has not acknowledged anything for {gate.lag():.1f} s"
        return publisher.trouble() or (None if publisher.connected else "no broker is connected")

    return trouble
