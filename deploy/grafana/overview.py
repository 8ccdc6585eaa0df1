"""Is everything well? What a person looks at first."""

from __future__ import annotations

from typing import Final

from deploy.grafana.model import Dashboard, Panel, Query
from deploy.grafana.queries import VIEW, quantiles, rate

OVERVIEW: Final = Dashboard(
    name="overview",
    title="Skyline: overview",
    meaning="Throughput, lag, members, churn and rejects of every view.",
    variables=[("view", "label_values(skyline_active, view)")],
    panels=[
        Panel(
            "Alerts firing",
            [
                Query(
                    'count by (alertname) (ALERTS{alertstate="firing", alertname=~"Skyline.*"}) or on () vector(0)',
                    "{{alertname}}",
                )
            ],
            meaning="Each has a section in the runbook.",
            kind="stat", alarm=1, width=6, height=4, named=True,
        ),
        Panel(
            "Views without a maintainer",
            [
                Query(
                    f"count(view:skyline_active:count{{{VIEW}}} == 0) "
                    "or absent(view:skyline_active:count) or vector(0)",
                    "views",
                )
            ],
            meaning="1 where no process tells anything about any view.",
            kind="stat", alarm=1, runbook="SkylineViewUnmaintained", width=6, height=4,
        ),
        Panel(
            "Services that do not answer",
            [Query('count(up{job="skyline", part!="demo"} == 0) or vector(0)', "services")],
            kind="stat", alarm=1, runbook="SkylineScrapeDown", width=6, height=4,
        ),
        Panel(
            "Maintainers per view",
            [Query(f"min(view:skyline_maintainers:count{{{VIEW}}}) or vector(0)", "fewest")],
            meaning="One maintains, the others stand by.",
            kind="stat", low_is_bad=True, warn=1, alarm=2, runbook="SkylineStandbyMissing", width=6, height=4,
        ),
        Panel(
            "Updates", [Query(f"view:skyline_updates:rate1m{{{VIEW}}}")], "ops",
            "Records read, applied and committed, per second.", runbook="SkylineNoCommits",
        ),
        Panel(
            "Lag", [Query(f"view:skyline_lag_records:current{{{VIEW}}}")], "short",
            "Records of the updates topic that are not applied yet.", alarm=10_000, runbook="SkylineLagGrows",
        ),
        Panel(
            "Event-time lag", [Query(f"view:skyline_event_lag_seconds:current{{{VIEW}}}")], "s",
            "How old the newest event time is that the view knows. Below 0, it is ahead of the wall clock.", alarm=60,
            from_zero=False, runbook="SkylineEventTimeLag",
        ),
        Panel(
            "Members", [Query(f"view:skyline_members:current{{{VIEW}}}")], "short",
            "Objects that no other dominates.", runbook="SkylineMembersJump",
        ),
        Panel("Live objects", [Query(f"view:skyline_objects:current{{{VIEW}}}")], "short", "Dominated ones too."),
        Panel("Churn", [rate("skyline_changes_total", "view, op")], "ops", "Members that enter, move and leave."),
        Panel(
            "Rejected",
            [
                Query(
                    f"sum by (view, reason) (rate(skyline_rejected_total{{{VIEW}}}[1m])) > 0 "
                    f"or 0 * view:skyline_updates:rate1m{{{VIEW}}}",
                    "{{view}} {{reason}}",
                )
            ],
            "ops", "Records that could not be applied; they are in the rejected topic.", alarm=1,
            runbook="SkylineRejectsSpike",
        ),
        Panel("Sent by ingest", [rate("skyline_ingest_sent_total", "view, source")], "ops", "Acknowledged by Kafka."),
        Panel(
            "Requests to ingest", [rate("skyline_ingest_requests_total", "status", "")], "reqps",
            "By status.", runbook="SkylineIngestErrors",
        ),
        Panel(
            "Acknowledging a request", quantiles("skyline_ingest_request_seconds", "view"), "s",
            "From the HTTP request to the broker's acknowledgement.", warn=0.5,
        ),
        Panel(
            "Archived", [rate("skyline_archive_records_total", "topic", "")], "ops",
            "Records that the archive has taken; all topics.",
        ),
        Panel(
            "Since the archive's last batch",
            [Query("time() - max by (topic) (skyline_archive_time_seconds)", "{{topic}}")], "s",
            "It writes every 30 seconds, or says that there was nothing new.", alarm=900, runbook="SkylineArchiveOld",
        ),
    ],
)  # fmt: skip
