"""The pieces of a Grafana dashboard, as plain data that becomes its JSON model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from deploy.grafana.sections import address

DATASOURCE: Final = {"type": "prometheus", "uid": "prometheus"}

_ALERTS_ANNOTATION: Final = {
    "name": "Alerts",
    "enable": True,
    "iconColor": "red",
    "datasource": DATASOURCE,
    "expr": 'ALERTS{alertstate="firing", alertname=~"Skyline.*"}',
    "titleFormat": "{{alertname}}",
    "textFormat": "{{view}} {{service}}",
    "step": "15s",
}
"""Marks in every graph while an alert fires."""

_SCHEMA_VERSION: Final = 39
_WIDTH: Final = 24
_GREEN, _YELLOW, _RED = "green", "yellow", "red"


@dataclass(frozen=True)
class Query:
    """One line of PromQL and what its series are called."""

    expr: str
    legend: str = "{{view}}"


@dataclass(frozen=True)
class Panel:
    """One graph, or one number (`kind` "stat"). `warn` and `alarm` colour what is at or above them."""

    title: str
    queries: Sequence[Query]
    unit: str = "short"
    meaning: str = ""
    kind: str = "timeseries"
    warn: float | None = None
    alarm: float | None = None
    low_is_bad: bool = False
    from_zero: bool = True
    """Whether the axis begins at 0, so that small changes look small; not where values may be below."""
    runbook: str = ""
    """Name of the alert whose section of the runbook belongs to the panel."""
    named: bool = False
    """A number with the name of its series, where there may be several."""
    width: int = 8
    height: int = 8

    def model(self, number: int, x: int, y: int) -> dict[str, Any]:
        """The panel's JSON model, at this place of the grid."""
        return {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.meaning,
            "datasource": DATASOURCE,
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "targets": [
                {"refId": chr(ord("A") + i), "datasource": DATASOURCE, "expr": query.expr, "legendFormat": query.legend}
                for i, query in enumerate(self.queries)
            ],
            "fieldConfig": {
                "defaults": {
                    "unit": self.unit,
                    **({"min": 0} if self.from_zero else {}),
                    "thresholds": self._thresholds(),
                    "custom": self._drawing(),
                },
                "overrides": [],
            },
            "options": self._options(),
            "links": [{"title": f"Runbook: {self.runbook}", "url": address(self.runbook)}] if self.runbook else [],
        }

    def _thresholds(self) -> dict[str, Any]:
        first = _RED if self.low_is_bad else _GREEN
        steps: list[dict[str, Any]] = [{"color": first, "value": None}]
        if self.warn is not None:
            steps.append({"color": _YELLOW, "value": self.warn})
        if self.alarm is not None:
            steps.append({"color": _GREEN if self.low_is_bad else _RED, "value": self.alarm})
        return {"mode": "absolute", "steps": steps}

    def _drawing(self) -> dict[str, Any]:
        if self.kind != "timeseries":
            return {}
        lines = self.warn is not None or self.alarm is not None
        return {"lineWidth": 1, "fillOpacity": 8, "thresholdsStyle": {"mode": "line" if lines else "off"}}

    def _options(self) -> dict[str, Any]:
        if self.kind == "stat":
            return {
                "reduceOptions": {"calcs": ["lastNotNull"]},
                "colorMode": "background",
                "graphMode": "area",
                "textMode": "value_and_name" if self.named else "auto",
            }
        return {
            "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull", "max"]},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }


@dataclass(frozen=True)
class Text:
    """A panel of Markdown."""

    title: str
    content: str
    width: int = 12
    height: int = 9
    queries: Sequence[Query] = ()

    def model(self, number: int, x: int, y: int) -> dict[str, Any]:
        """The panel's JSON model, at this place of the grid."""
        return {
            "id": number,
            "type": "text",
            "title": self.title,
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "options": {"mode": "markdown", "content": self.content},
        }


@dataclass(frozen=True)
class Dashboard:
    """A page of panels, laid out from left to right in rows."""

    name: str
    title: str
    meaning: str
    panels: Sequence[Panel | Text]
    variables: Sequence[tuple[str, str]]
    """(name, query): `label_values(metric, label)`."""

    def model(self) -> dict[str, Any]:
        """The dashboard's JSON model."""
        return {
            "uid": f"skyline-{self.name}",
            "title": self.title,
            "description": self.meaning,
            "tags": ["skyline"],
            "schemaVersion": _SCHEMA_VERSION,
            "version": 1,
            "editable": False,
            "timezone": "browser",
            "refresh": "10s",
            "time": {"from": "now-30m", "to": "now"},
            "templating": {"list": [_variable(name, query) for name, query in self.variables]},
            "annotations": {"list": [_ALERTS_ANNOTATION]},
            "links": [
                {"type": "dashboards", "title": "Skyline", "tags": ["skyline"], "keepTime": True, "includeVars": True},
                {"type": "link", "title": "Runbook", "url": address(), "targetBlank": True},
            ],
            "panels": self._laid_out(),
        }

    def _laid_out(self) -> list[dict[str, Any]]:
        models, x, y, tallest = [], 0, 0, 0
        for number, panel in enumerate(self.panels, start=1):
            if x + panel.width > _WIDTH:
                x, y, tallest = 0, y + tallest, 0
            models.append(panel.model(number, x, y))
            x, tallest = x + panel.width, max(tallest, panel.height)
        return models


def _variable(name: str, query: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": name,
        "type": "query",
        "datasource": DATASOURCE,
        "query": {"query": query, "refId": name},
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }
