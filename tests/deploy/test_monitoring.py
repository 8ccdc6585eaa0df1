"""A real Prometheus on running services: every panel has data, alerts fire when provoked and clear after."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.grafana.build import DASHBOARDS
from deploy.local.broker import Broker
from tests.deploy.monitoring import Monitored
from tests.deploy.processes import ROOT, wait_until

QUERIES = [
    pytest.param(query.expr, id=f"{dashboard.name}-{panel.title}-{number}")
    for dashboard in DASHBOARDS
    for panel in dashboard.panels
    for number, query in enumerate(panel.queries)
]
SAMPLES = ROOT / "tests" / "artifacts" / "panels.jsonl"

pytestmark = pytest.mark.prometheus


@pytest.fixture(scope="module")
def monitored(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitored]:
    SAMPLES.parent.mkdir(exist_ok=True)
    SAMPLES.unlink(missing_ok=True)
    home: Path = tmp_path_factory.mktemp("monitoring")
    with Monitored(broker.address, "monitored", home).running() as stack:
        # before the first scrapes, panels that show 0 where nothing is told would pass with nothing behind them
        wait_until(lambda: stack.ask(f'view:skyline_active:count{{view="{stack.view}"}} == 1'))
        wait_until(lambda: stack.ask("view:skyline_maintainers:count == 2"))
        yield stack


@pytest.mark.parametrize("expression", QUERIES)
def test_every_panel_has_data_under_load(monitored: Monitored, expression: str, request: pytest.FixtureRequest) -> None:
    expression = re.sub(r"\$(instance|server)\b", ".*", expression.replace("$view", monitored.view))
    wait_until(lambda: [series for series in monitored.ask(expression) if series["value"][1] != "NaN"])
    series = [series for series in monitored.ask(expression) if series["value"][1] != "NaN"]
    with SAMPLES.open("a") as file:  # for people: what each panel showed
        line = {"panel": request.node.callspec.id, "query": expression, "series": len(series), "sample": series[:1]}
        file.write(json.dumps(line) + "\n")
    assert all(float(one["value"][1]) >= 0 for one in series)


def test_all_targets_are_scraped(monitored: Monitored) -> None:
    names = {"maintainer", "standby", "ingest", "query", "market", "ticker", "archive"}
    wait_until(lambda: {one["metric"]["service"] for one in monitored.ask('up{job="skyline"} == 1')} == names)


def test_an_alert_fires_when_provoked_and_clears_after(monitored: Monitored) -> None:
    """The standby goes away and comes back: two alerts, from quiet to firing to quiet."""
    provoked = {"SkylineStandbyMissing", "SkylineScrapeDown"}
    seen = []

    def states() -> set[str]:
        alerts = monitored.alerts()
        now = {name: alerts.get(name, "quiet") for name in sorted(provoked)}
        if not seen or seen[-1] != now:
            seen.append(now)
        return set(now.values())

    wait_until(lambda: states() == {"quiet"})
    monitored.stop("standby")
    wait_until(lambda: states() == {"firing"})
    monitored.start("standby")
    wait_until(lambda: states() == {"quiet"})
    SAMPLES.with_name("alerts.json").write_text(json.dumps(seen, indent=1) + "\n")  # for people
    assert {"SkylineScrapeDown": "firing", "SkylineStandbyMissing": "firing"} in seen


def test_the_standby_takes_over_and_nobody_is_woken_for_an_unmaintained_view(monitored: Monitored) -> None:
    monitored.stop("maintainer")
    wait_until(lambda: [one["value"][1] for one in monitored.ask("view:skyline_active:count")] == ["1"])
    wait_until(lambda: "SkylineViewUnmaintained" not in monitored.alerts())
    monitored.start("maintainer")
    wait_until(lambda: [one["value"][1] for one in monitored.ask("view:skyline_maintainers:count")] == ["2"])


def test_a_view_that_nobody_maintains_wakes_somebody(monitored: Monitored) -> None:
    for name in ("standby", "maintainer"):
        monitored.stop(name)
    wait_until(lambda: monitored.alerts().get("SkylineViewUnmaintained") == "firing")
    for name in ("maintainer", "standby"):
        monitored.start(name)
    wait_until(lambda: "SkylineViewUnmaintained" not in monitored.alerts())


def test_silence_wakes_somebody(monitored: Monitored) -> None:
    wait_until(lambda: "SkylineEventTimeLag" not in monitored.alerts())
    with monitored.silence():
        wait_until(lambda: monitored.alerts().get("SkylineEventTimeLag") == "firing")
    wait_until(lambda: "SkylineEventTimeLag" not in monitored.alerts())


def test_rejects_wake_nobody_but_are_told(monitored: Monitored) -> None:
    """A twentieth of the load is no JSON: the ticket is opened."""
    wait_until(lambda: monitored.alerts().get("SkylineRejectsSpike") == "firing")
