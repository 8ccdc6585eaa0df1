"""Prometheus's files: accepted by promtool, unit-tested alert by alert, explained in the runbook."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from deploy.local.place import PROMETHEUS
from deploy.prometheus.build import TARGETS, written
from tests.deploy.promql import declared, metrics_in, rules
from tests.packages import program

ALERTS = [rule for rule in rules(PROMETHEUS) if "alert" in rule]
RECORDED = {rule["record"] for rule in rules(PROMETHEUS) if "record" in rule}


def _promtool(*arguments: str) -> str:
    result = subprocess.run(
        [program("promtool"), *arguments], capture_output=True, text=True, check=False, cwd=PROMETHEUS
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_promtool_accepts_the_configuration_and_the_rules() -> None:
    assert "SUCCESS" in _promtool("check", "config", "prometheus.yml")
    assert f"SUCCESS: {len(rules(PROMETHEUS))} rules found" in _promtool("check", "rules", "rules/skyline.yml")


def test_the_rules_pass_their_unit_tests() -> None:
    assert "SUCCESS" in _promtool("test", "rules", "tests/alerts.yml")


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_is_seen_to_fire_and_to_clear(alert: dict[str, str]) -> None:
    """In the unit tests: quiet before, firing, and (but where all processes are gone for good) quiet after."""
    document = yaml.safe_load((PROMETHEUS / "tests" / "alerts.yml").read_text())
    seen = [
        bool(case["exp_alerts"])
        for group in document["tests"]
        for case in group.get("alert_rule_test", [])
        if case["alertname"] == alert["alert"]
    ]
    assert seen[:3] == [False, True, False]


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_has_a_place_in_the_runbook(alert: dict[str, dict[str, str]], repository: Path) -> None:
    name = str(alert["alert"])
    severities = re.sub(r"{{.*?}}", " ", str(alert["labels"]["severity"])).split()  # a template says which, when
    assert severities
    assert set(severities) <= {"page", "ticket"}
    path, _, anchor = alert["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^#+ (.+)$", (repository / path).read_text(), re.MULTILINE)
    assert anchor == name.lower()
    assert name in headings


@pytest.mark.parametrize("rule", rules(PROMETHEUS), ids=lambda rule: rule.get("alert") or rule.get("record"))
def test_rules_name_only_what_exists(rule: dict[str, str]) -> None:
    named = metrics_in(rule["expr"])
    assert named
    assert named <= declared() | RECORDED


def test_the_runbook_names_no_alert_that_is_gone(repository: Path) -> None:
    headings = set(re.findall(r"^#+ (Skyline[A-Z]\w+)$", (repository / "docs/operations.md").read_text(), re.MULTILINE))
    assert headings == {str(rule["alert"]) for rule in ALERTS}


def test_targets_are_those_of_the_table() -> None:
    assert TARGETS.read_text() == written()
