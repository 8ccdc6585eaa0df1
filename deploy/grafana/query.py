"""How does the API do: rate, latency, readers, freshness."""

from __future__ import annotations

from typing import Final

from deploy.grafana.model import Dashboard, Panel, Query
from deploy.grafana.queries import VIEW, gauge, quantiles, rate

_SERVER: Final = 'instance=~"$server"'
"""Not $instance: links carry variables along, and the one of that name is a maintainer on the dashboard beside."""

_PLACE: Final = f"{VIEW}, {_SERVER}"
_ASKED: Final = f'{_PLACE}, route!~"/(healthz|readyz|metrics)"'
_PROCESS: Final = f'service="query", {_SERVER}'

QUERY: Final = Dashboard(
    name="query",
    title="Skyline: query",
    meaning="Rate, latency, readers and freshness of the HTTP API.",
    variables=[
        ("view", "label_values(skyline_query_offset, view)"),
        ("server", 'label_values(skyline_query_offset{view=~"$view"}, instance)'),
    ],
    panels=[
        Panel("Requests by route", [rate("skyline_query_requests_total", "route", _ASKED)], "reqps"),
        Panel(
            "Requests by status", [rate("skyline_query_requests_total", "status", _ASKED)], "reqps",
            "429 and 503 turn away load on purpose; other 5xx are faults.", runbook="SkylineQueryErrors",
        ),
        Panel("Latency by route", quantiles("skyline_query_seconds", "route", _ASKED), "s", warn=0.1, alarm=1.0),
        Panel("Open change streams", [gauge("skyline_query_readers", "view, instance", _PLACE)], "short"),
        Panel(
            "Streams dropped",
            [
                Query(
                    f"sum by (view) (rate(skyline_query_dropped_readers_total{{{_PLACE}}}[5m])) "
                    f"or 0 * sum by (view) (skyline_query_offset{{{_PLACE}}})"
                )
            ],
            "ops", "Readers that were too slow.",
        ),
        Panel(
            "Lag", [gauge("skyline_query_lag_records", "view, instance", _PLACE)], "short",
            "Updates that answers do not show yet.", alarm=10_000, runbook="SkylineQueryLag",
        ),
        Panel("Offset that answers speak for", [gauge("skyline_query_offset", "view, instance", _PLACE)], "short"),
        Panel("Objects held", [gauge("skyline_query_objects", "view, instance", _PLACE)], "short"),
        Panel(
            "Rebuilding the search index",
            [
                Query(
                    f"sum by (view) (rate(skyline_query_index_seconds_sum{{{_PLACE}}}[5m])) "
                    f"or 0 * sum by (view) (skyline_query_offset{{{_PLACE}}})"
                )
            ],
            "percentunit", "Share of one core; it is rebuilt when enough has moved.", warn=0.5,
        ),
        Panel("Memory", [Query(f"process_resident_memory_bytes{{{_PROCESS}}}", "{{instance}}")], "bytes"),
        Panel("Cores", [Query(f"rate(process_cpu_seconds_total{{{_PROCESS}}}[1m])", "{{instance}}")], "short"),
    ],
)  # fmt: skip
