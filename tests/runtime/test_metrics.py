"""Metrics that alerts rely on are there before there is anything to count."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from skyline.runtime.metrics import Metrics
from skyline.wire.rejects import REASONS


def test_a_view_that_is_stood_by_for_shows_its_counters_at_zero() -> None:
    registry = CollectorRegistry()
    Metrics(registry).stand_by("spot")
    view = {"view": "spot"}
    names = ("skyline_active", "skyline_updates_total", "skyline_transaction_retries_total", "skyline_replayed_total")
    assert [registry.get_sample_value(name, view) for name in names] == [0, 0, 0, 0]
    assert [registry.get_sample_value("skyline_rejected_total", {**view, "reason": why}) for why in REASONS] == [
        0 for _ in REASONS
    ]
