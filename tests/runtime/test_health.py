"""The page beside the work: metrics, health, readiness."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from skyline.errors import InvalidInput
from skyline.runtime.health import HealthServer
from skyline.runtime.metrics import Metrics


class Troubles:
    alive: str | None = None
    ready: str | None = "recovering"


@pytest.fixture
def troubles() -> Troubles:
    return Troubles()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(CollectorRegistry())


@pytest.fixture
def server(troubles: Troubles, metrics: Metrics) -> Iterator[HealthServer]:
    server = HealthServer("127.0.0.1", 0, metrics.registry, lambda: troubles.alive, lambda: troubles.ready)
    yield server
    server.close()


def get(server: HealthServer, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read().decode()


def test_health_and_readiness_say_what_is_wrong(server: HealthServer, troubles: Troubles) -> None:
    assert get(server, "/healthz") == (200, "ok\n")
    assert get(server, "/readyz") == (503, "recovering\n")
    troubles.alive, troubles.ready = "silent for 61 s", None
    assert get(server, "/healthz?verbose") == (503, "silent for 61 s\n")
    assert get(server, "/readyz") == (200, "ok\n")


def test_other_paths_say_where_to_look(server: HealthServer) -> None:
    assert get(server, "/") == (404, "try /metrics, /healthz or /readyz\n")


def test_metrics_are_what_prometheus_reads(server: HealthServer, metrics: Metrics) -> None:
    metrics.changes.labels("hotels", "enter", "promoted").inc(3)
    metrics.lag.labels("hotels").set(12)
    status, page = get(server, "/metrics")
    families = {family.name: family for family in text_string_to_metric_families(page)}
    assert status == 200
    sample = next(s for s in families["skyline_changes"].samples if s.name == "skyline_changes_total")
    assert (sample.labels, sample.value) == ({"view": "hotels", "op": "enter", "reason": "promoted"}, 3)
    assert families["skyline_lag_records"].samples[0].value == 12


def test_every_metric_says_what_it_means(metrics: Metrics) -> None:
    for family in metrics.registry.collect():
        assert family.name.startswith("skyline_")
        assert len(family.documentation.split()) >= 2, family.name


def test_a_port_in_use_is_an_error_that_says_so(server: HealthServer, metrics: Metrics) -> None:
    with pytest.raises(InvalidInput, match=f"127.0.0.1:{server.port}: Address already in use"):
        HealthServer("127.0.0.1", server.port, metrics.registry, lambda: None, lambda: None)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("no.such.host.invalid", 0)])
def test_an_address_that_cannot_be_is_an_error_that_says_so(metrics: Metrics, host: str, port: int) -> None:
    with pytest.raises(InvalidInput, match=f"metrics cannot be served on {host}:{port}: "):
        HealthServer(host, port, metrics.registry, lambda: None, lambda: None)
