"""Every metric of every service, declared once, with its meaning. The registry is injected."""

from __future__ import annotations

from functools import partial
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from skyline.wire.rejects import REASONS

_SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_BATCH: Final = (1, 10, 100, 1_000, 5_000, 10_000, 20_000)


class Metrics:
    """The metrics, as attributes. A service touches only its own; all of them share names and labels."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        view = ["view"]
        count = partial(Counter, registry=registry)
        gauge = partial(Gauge, registry=registry)
        seconds = partial(Histogram, registry=registry, buckets=_SECONDS)
        sizes = partial(Histogram, registry=registry, buckets=_BATCH)

        # ingest
        self.sent = count("skyline_ingest_sent_total", "Updates acknowledged by the broker", ["view", "source"])
        self.refused = count(
            "skyline_ingest_refused_total", "Updates refused before they were sent", ["view", "source", "reason"]
        )
        self.ingest_in_flight = gauge(
            "skyline_ingest_in_flight", "Updates of HTTP requests sent to the broker and not yet acknowledged"
        )
        self.ingest_requests = count("skyline_ingest_requests_total", "HTTP requests, by status", ["view", "status"])
        self.ingest_seconds = seconds("skyline_ingest_request_seconds", "HTTP request to broker acknowledgement", view)

        # maintainer: what came in and what went out
        self.updates = count("skyline_updates_total", "Records read from the updates topic and committed", view)
        self.rejected = count(
            "skyline_rejected_total", "Records sent to the rejected topic, by reason", ["view", "reason"]
        )
        self.changes = count("skyline_changes_total", "Changes committed, by op and reason", ["view", "op", "reason"])
        self.members = gauge("skyline_members", "Members of the skyline", view)
        self.objects = gauge("skyline_objects", "Live objects", view)
        self.seq = gauge("skyline_seq", "Number of the last change committed", view)

        # maintainer: is it keeping up
        self.lag = gauge("skyline_lag_records", "Records of the updates topic not yet committed", view)
        self.clock = gauge("skyline_clock_seconds", "Event time of the view, in seconds since 1970", view)
        self.event_lag = gauge("skyline_event_lag_seconds", "Wall clock minus event time at the last commit", view)
        self.batch = sizes("skyline_batch_records", "Records per batch", view)
        self.decode_seconds = seconds("skyline_decode_seconds", "Time to decode a batch", view)
        self.engine_seconds = seconds("skyline_engine_seconds", "Time to apply a batch to the engine", view)
        self.transaction_seconds = seconds(
            "skyline_transaction_seconds", "Time of a transaction, begin to commit", view
        )
        self.transaction_retries = count(
            "skyline_transaction_retries_total", "Transactions aborted and sent again", view
        )

        # maintainer: can it recover
        self.checkpoint_time = gauge(
            "skyline_checkpoint_time_seconds", "When the newest checkpoint was written, in seconds since 1970", view
        )
        self.checkpoint_bytes = gauge("skyline_checkpoint_bytes", "Size of the newest checkpoint", view)
        self.checkpoint_seconds = seconds("skyline_checkpoint_seconds", "Time to write a checkpoint", view)
        self.recovery_seconds = gauge(
            "skyline_recovery_seconds", "Time from assignment to live, of the last recovery", view
        )
        self.replayed = count("skyline_replayed_total", "Records replayed in silence during recovery", view)
        self.active = gauge("skyline_active", "1 where this process maintains the view, 0 where it stands by", view)

        # query
        self.requests = count(
            "skyline_query_requests_total", "Requests answered, by route and status", ["view", "route", "status"]
        )
        self.request_seconds = seconds("skyline_query_seconds", "Time to answer, by route", ["view", "route"])
        self.readers = gauge("skyline_query_readers", "Open change streams", view)
        self.dropped_readers = count(
            "skyline_query_dropped_readers_total", "Change streams closed because they read too slowly", view
        )
        self.query_offset = gauge("skyline_query_offset", "Updates offset that answers speak for", view)
        self.query_lag = gauge(
            "skyline_query_lag_records", "Records of the updates topic that answers do not show yet", view
        )
        self.query_objects = gauge("skyline_query_objects", "Objects that the query service holds", view)
        self.index_seconds = seconds("skyline_query_index_seconds", "Time to rebuild the search index", view)

    def stand_by(self, view: str) -> None:
        """Shows a view that this process may come to maintain, with its counters at 0.

        Prometheus sees no growth in a series whose first value is all of it: the first thousand rejects would raise
        no alert.
        """
        self.active.labels(view).set(0)
        for counter in (self.updates, self.transaction_retries, self.replayed):
            counter.labels(view)
        for reason in REASONS:
            self.rejected.labels(view, reason)
