"""Why is a view slow, and could it recover? One maintainer from inside."""

from __future__ import annotations

from typing import Final

from deploy.grafana.model import Dashboard, Panel, Query
from deploy.grafana.queries import PLACE, VIEW, gauge, quantiles, rate

_PROCESS: Final = 'service=~"maintainer|standby", instance=~"$instance"'

MAINTAINER: Final = Dashboard(
    name="maintainer",
    title="Skyline: maintainer",
    meaning="Batches, engine, transactions, checkpoints and recovery.",
    variables=[
        ("view", "label_values(skyline_active, view)"),
        ("instance", 'label_values(skyline_active{view=~"$view"}, instance)'),
    ],
    panels=[
        Panel(
            "Who maintains", [gauge("skyline_active", "view, instance", PLACE)], "short",
            "1 maintains the view, 0 stands by.", runbook="SkylineViewUnmaintained",
        ),
        Panel("Committed", [rate("skyline_updates_total", "view, instance", PLACE)], "ops", "Updates per second.",
              runbook="SkylineNoCommits"),
        Panel("Batch size", quantiles("skyline_batch_records", "view", PLACE), "short", "Records per batch."),
        Panel(
            "Where the time goes",
            [
                Query(f"sum by (view) (rate(skyline_{step}_seconds_sum{{{PLACE}}}[1m]))", f"{{{{view}}}} {step}")
                for step in ("decode", "engine", "transaction", "checkpoint")
            ],
            "percentunit", "Share of one second. Transactions overlap the next batch.", warn=0.8,
            runbook="SkylineLagGrows",
        ),
        Panel("Decoding", quantiles("skyline_decode_seconds", "view", PLACE), "s", "Per batch."),
        Panel("Engine", quantiles("skyline_engine_seconds", "view", PLACE), "s", "Per batch."),
        Panel(
            "Engine per update",
            [
                Query(
                    f"sum by (view) (rate(skyline_engine_seconds_sum{{{PLACE}}}[1m])) "
                    f"/ sum by (view) (rate(skyline_batch_records_sum{{{PLACE}}}[1m]))"
                )
            ],
            "s", "Grows with the number of members.",
        ),
        Panel("Transactions", quantiles("skyline_transaction_seconds", "view", PLACE), "s", "Begin to commit."),
        Panel(
            "Transactions sent again", [rate("skyline_transaction_retries_total", "view, instance", PLACE)], "ops",
            "Aborted by the broker and repeated.", runbook="SkylineNoCommits",
        ),
        Panel(
            "Age of the newest checkpoint", [Query(f"view:skyline_checkpoint_age_seconds:current{{{VIEW}}}")], "s",
            "What a restart replays is at most this much.", alarm=900, runbook="SkylineCheckpointOld",
        ),
        Panel("Size of the newest checkpoint", [gauge("skyline_checkpoint_bytes", "view, instance", PLACE)], "bytes"),
        Panel("Writing a checkpoint", quantiles("skyline_checkpoint_seconds", "view", PLACE), "s"),
        Panel(
            "Last recovery", [gauge("skyline_recovery_seconds", "view, instance", PLACE)], "s",
            "From assignment to live.", runbook="SkylineCrashLoop",
        ),
        Panel(
            "Replayed", [gauge("skyline_replayed_total", "view, instance", PLACE)], "short",
            "Records replayed in silence since the process started.",
        ),
        Panel("Memory", [Query(f"process_resident_memory_bytes{{{_PROCESS}}}", "{{instance}}")], "bytes"),
        Panel("Cores", [Query(f"rate(process_cpu_seconds_total{{{_PROCESS}}}[1m])", "{{instance}}")], "short"),
    ],
)  # fmt: skip
