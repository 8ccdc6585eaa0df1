"""The dashboards: what the code builds, in Grafana's JSON model, with queries that name only what exists."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.grafana.build import DASHBOARDS, HOME, written
from deploy.grafana.model import Dashboard
from deploy.grafana.runbook import RUNBOOK
from deploy.local.place import PROMETHEUS
from tests.deploy.promql import declared, metrics_in, rules

RECORDED = {rule["record"] for rule in rules(PROMETHEUS) if "record" in rule}
ALERTS = {rule["alert"] for rule in rules(PROMETHEUS) if "alert" in rule}
UNITS = {"short", "ops", "reqps", "s", "bytes", "percentunit"}
ALL = pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda dashboard: dashboard.name)


def _panels(dashboard: Dashboard) -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = json.loads(written(dashboard))["panels"]
    return panels


@ALL
def test_the_committed_file_is_what_the_code_builds(dashboard: Dashboard) -> None:
    path = HOME / f"{dashboard.name}.json"
    assert path.read_text() == written(dashboard), "run python -m deploy.grafana.build"


def test_no_other_file_is_provisioned() -> None:
    assert {path.stem for path in HOME.iterdir()} == {dashboard.name for dashboard in DASHBOARDS}


@ALL
def test_the_model_is_grafanas(dashboard: Dashboard) -> None:
    """The fields that Grafana's schema asks for, with the types it asks for."""
    model = json.loads(written(dashboard))
    assert re.fullmatch(r"[a-z0-9-]{1,40}", model["uid"])
    assert isinstance(model["schemaVersion"], int)
    assert model["time"].keys() == {"from", "to"}
    assert model["annotations"]["list"][0]["datasource"] == {"type": "prometheus", "uid": "prometheus"}
    for variable in model["templating"]["list"]:
        assert variable["type"] == "query"
        assert variable["datasource"] == {"type": "prometheus", "uid": "prometheus"}
        assert variable["query"]["query"] == variable["definition"]
        assert variable["current"] == {"text": "All", "value": "$__all"}
    for panel in model["panels"]:
        if panel["type"] == "text":
            assert panel["options"].keys() == {"mode", "content"}
            continue
        assert panel["type"] in ("timeseries", "stat")
        assert panel["datasource"] == {"type": "prometheus", "uid": "prometheus"}
        assert [target["refId"] for target in panel["targets"]] == [chr(65 + i) for i in range(len(panel["targets"]))]
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"] in UNITS
        steps = defaults["thresholds"]["steps"]
        assert steps[0]["value"] is None
        values = [step["value"] for step in steps[1:]]
        assert values == sorted(values)
        assert panel["fieldConfig"]["overrides"] == []
        assert isinstance(panel["options"], dict)


@ALL
def test_panels_have_ids_of_their_own_and_do_not_overlap(dashboard: Dashboard) -> None:
    panels = _panels(dashboard)
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
    taken: Counter[tuple[int, int]] = Counter()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        taken.update((place["x"] + i, place["y"] + j) for i in range(place["w"]) for j in range(place["h"]))
    assert max(taken.values()) == 1


@ALL
def test_queries_name_only_metrics_that_are_declared(dashboard: Dashboard) -> None:
    for panel in dashboard.panels:
        for query in panel.queries:
            named = metrics_in(query.expr)
            assert named
            assert named <= declared() | RECORDED, panel.title
    for _, query in dashboard.variables:
        assert metrics_in(query) <= declared() | RECORDED


@ALL
def test_variables_that_are_used_are_defined(dashboard: Dashboard) -> None:
    used = set(re.findall(r"\$(\w+)", " ".join(query.expr for panel in dashboard.panels for query in panel.queries)))
    assert used <= {name for name, _ in dashboard.variables}


def test_links_lead_to_the_section_of_an_alert() -> None:
    """A panel's link opens the panel of the runbook that has the name in the link."""
    sections = {panel["id"]: panel["title"] for panel in _panels(RUNBOOK)}
    assert set(sections.values()) == ALERTS
    links = [link for dashboard in DASHBOARDS for panel in _panels(dashboard) for link in panel.get("links", [])]
    assert links
    for link in links:
        match = re.fullmatch(r"/d/skyline-runbook\?viewPanel=(\d+)", link["url"])
        assert match is not None
        assert link["title"] == f"Runbook: {sections[int(match[1])]}"


def test_the_runbooks_own_links_lead_to_panels() -> None:
    text = "\n".join(panel["options"]["content"] for panel in _panels(RUNBOOK))
    assert "](#" not in text
    for name, number in re.findall(r"\[(\w+)\]\(/d/skyline-runbook\?viewPanel=(\d+)\)", text):
        assert name == _panels(RUNBOOK)[int(number) - 1]["title"]


def test_grafana_is_provisioned_with_the_datasource_and_the_files(repository: Path) -> None:
    home = repository / "deploy/grafana/provisioning"
    source = yaml.safe_load((home / "datasources/prometheus.yml").read_text())["datasources"][0]
    assert (source["uid"], source["type"], source["url"]) == ("prometheus", "prometheus", "http://prometheus:9090")
    provider = yaml.safe_load((home / "dashboards/skyline.yml").read_text())["providers"][0]
    compose = (repository / "docker-compose.yml").read_text()
    assert f"./deploy/grafana/dashboards:{provider['options']['path']}:ro" in compose
