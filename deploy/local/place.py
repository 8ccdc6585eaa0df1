"""This machine as a place for services: loopback, a directory for data, and where Prometheus finds them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from deploy.local.ports import free_port
from deploy.local.services import Place, Service, scrape_targets

PROMETHEUS: Final = Path(__file__).parent.parent / "prometheus"


def local_place(bootstrap: str, views: Path, data: Path, chosen: Iterable[Service], *, any_port: bool) -> Place:
    """A place on loopback; with `any_port` each server has a port that is free now, instead of its usual one."""
    ports = {service.name: free_port() for service in chosen if service.port is not None} if any_port else {}
    return Place(bootstrap, str(views.resolve()), str(data.resolve()), "127.0.0.1", ports)


def write_prometheus(home: Path, place: Place, chosen: Iterable[Service]) -> Path:
    """Fills `home` with the configuration and rules of deploy/prometheus and this stack's targets; gives its path.

    `prometheus --config.file=<that path>` then watches the local stack as it would watch the one in compose.
    """
    shutil.rmtree(home, ignore_errors=True)
    (home / "targets").mkdir(parents=True)
    shutil.copy(PROMETHEUS / "prometheus.yml", home)
    shutil.copytree(PROMETHEUS / "rules", home / "rules")
    targets = scrape_targets(place, chosen, by_name=False)
    (home / "targets" / "local.json").write_text(json.dumps(targets, indent=2) + "\n")
    return home / "prometheus.yml"
