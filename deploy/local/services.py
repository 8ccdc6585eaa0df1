"""The one table of services: what runs, on which port, told what.

`skyline up`, `skyline demo`, docker-compose.yml and Prometheus all take a service from here: the commands read it, the
files are checked against it by tests/deploy. Services are configured by environment variables, which look the same
in a shell, in compose and anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Part = Literal["core", "standby", "demo", "archive"]

MAINTAINER_GROUP: Final = "skyline-maintainer"
"""The maintainer's default group prefix: a view's group is `skyline-maintainer.<view>`."""


@dataclass(frozen=True)
class Place:
    """Where a stack runs: all that services are told differently from place to place."""

    bootstrap: str
    views: str
    data: str
    host: str
    """Address that servers listen on."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Ports by service, where they are not those of the table."""

    def fill(self, text: str) -> str:
        return text.format(bootstrap=self.bootstrap, views=self.views, data=self.data, host=self.host)


COMPOSE: Final = Place("kafka:9092", "/etc/skyline/views.toml", "/var/lib/skyline", "0.0.0.0")


@dataclass(frozen=True)
class Service:
    """One process. Settings and arguments may name {bootstrap}, {views}, {data} and {host} of the place."""

    name: str
    command: tuple[str, ...]
    """Module to run, and its arguments."""
    part: Part
    settings: Mapping[str, str] = field(default_factory=dict)
    """Environment variables, without their prefix SKYLINE_."""
    port: int | None = None
    """Port of /metrics, /healthz and /readyz."""
    port_setting: str = "METRICS_PORT"

    def port_at(self, place: Place) -> int | None:
        return place.ports.get(self.name, self.port)

    def arguments(self, place: Place) -> list[str]:
        """What follows `python -m`."""
        return [place.fill(word) for word in self.command]

    def environment(self, place: Place) -> dict[str, str]:
        """The variables that this service is told, and no others."""
        settings = {"BOOTSTRAP": "{bootstrap}", "VIEWS": "{views}", **self.settings}
        if self.port is not None:
            settings[self.port_setting] = str(self.port_at(place))
        return {f"SKYLINE_{name}": place.fill(value) for name, value in settings.items()}


def _maintainer(name: str, part: Part, port: int) -> Service:
    return Service(name, ("maintainer",), part, {"STATE": "{data}/checkpoints", "METRICS_HOST": "{host}"}, port)


SERVICES: Final = (
    _maintainer("maintainer", "core", 9101),
    _maintainer("standby", "standby", 9104),
    Service("ingest", ("ingest", "http"), "core", {"HOST": "{host}"}, 8081, "PORT"),
    Service("query", ("query",), "core", {"HOST": "{host}"}, 8080, "PORT"),
    Service(
        "market",
        ("ingest", "generate"),
        "demo",
        {"VIEW": "spot", "RATE": "300", "METRICS_HOST": "{host}"},
        9102,
    ),
    Service("ticker", ("ingest", "tick"), "core", {"METRICS_HOST": "{host}"}, 9103),
    Service(
        "archive",
        ("spark_jobs.archive", "--views", "{views}", "--root", "{data}/archive", "--updates", "--every", "30s"),
        "archive",
        {"METRICS_HOST": "{host}"},
        9105,
    ),
)
"""Every service there is. The ticker is core: without it nothing expires while no update comes."""


def services(*parts: Part) -> list[Service]:
    """The services of these parts, in the order in which they are started."""
    return [service for service in SERVICES if service.part in parts]


def scrape_targets(place: Place, chosen: Iterable[Service], *, by_name: bool) -> list[dict[str, object]]:
    """Prometheus's targets (file_sd). `by_name`: services are found by their name, as in compose; else on loopback."""
    return [
        {
            "targets": [f"{service.name if by_name else '127.0.0.1'}:{service.port_at(place)}"],
            "labels": {"service": service.name, "part": service.part},
        }
        for service in chosen
        if service.port is not None
    ]
