"""`python -m deploy.grafana.build`: writes the dashboards that Grafana is provisioned with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from deploy.grafana.maintainer import MAINTAINER
from deploy.grafana.model import Dashboard
from deploy.grafana.overview import OVERVIEW
from deploy.grafana.query import QUERY
from deploy.grafana.runbook import RUNBOOK

DASHBOARDS: Final = (OVERVIEW, MAINTAINER, QUERY, RUNBOOK)
HOME: Final = Path(__file__).parent / "dashboards"


def written(dashboard: Dashboard) -> str:
    """The file's content."""
    return json.dumps(dashboard.model(), indent=1) + "\n"


def main() -> None:
    for dashboard in DASHBOARDS:
        path = HOME / f"{dashboard.name}.json"
        path.write_text(written(dashboard))
        print(f"{path}: {len(dashboard.panels)} panels")


if __name__ == "__main__":
    main()
