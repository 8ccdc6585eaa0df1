"""docker-compose.yml says what the table of services says, and names nothing that does not exist."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from deploy.local.broker_config import SETTINGS
from deploy.local.services import COMPOSE, MAINTAINER_GROUP, SERVICES, Service
from ingest.generate import GenerateConfig
from ingest.http.config import HttpConfig
from ingest.ticker import TickConfig
from maintainer.config import MaintainerConfig
from query.config import QueryConfig
from skyline.runtime.config import ServiceConfig
from tests.packages import program

CONFIGS: dict[str, type[ServiceConfig]] = {
    "maintainer": MaintainerConfig,
    "standby": MaintainerConfig,
    "ingest": HttpConfig,
    "query": QueryConfig,
    "market": GenerateConfig,
    "ticker": TickConfig,
}
BOUGHT = {"kafka", "prometheus", "grafana"}
BESIDE_THE_TABLE = {"topics", *BOUGHT}


def _resolved(repository: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [program("docker-compose"), "-f", str(repository / "docker-compose.yml"), *flags, "config"]
    clean = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME")}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**clean, **environment}, cwd=repository
    )


@pytest.fixture(scope="module")
def compose(repository: Path) -> dict[str, Any]:
    """The file as docker-compose reads it, all profiles on."""
    result = _resolved(repository, "--profile", "demo", GRAFANA_PASSWORD="secret")
    assert result.returncode == 0, result.stderr
    return cast("dict[str, Any]", yaml.safe_load(result.stdout))


def test_without_a_password_it_says_what_to_set(repository: Path) -> None:
    result = _resolved(repository)
    assert result.returncode != 0
    assert "set GRAFANA_PASSWORD in .env" in result.stderr


def test_every_service_of_the_table_is_there_and_no_other(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {service.name for service in SERVICES} | BESIDE_THE_TABLE


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_a_service_is_told_what_the_table_says(service: Service, compose: dict[str, Any]) -> None:
    entry = compose["services"][service.name]
    assert entry["command"] == service.arguments(COMPOSE)
    told = {name: str(value) for name, value in entry["environment"].items()}
    assert told == {**service.environment(COMPOSE), "SKYLINE_LOG_LEVEL": "INFO"}
    assert entry.get("profiles", []) == (["demo"] if service.part == "demo" else [])
    if service.port is not None:
        url = f"http://127.0.0.1:{service.port}/readyz"
        assert entry["healthcheck"]["test"] == ["CMD", "python", "-m", "deploy.images.probe", url]


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_what_a_service_is_told_exists_in_the_code(service: Service) -> None:
    assert find_spec(service.command[0]) is not None
    if service.name not in CONFIGS:
        return
    known = {field.name.upper(): field for field in fields(CONFIGS[service.name])} | {"BOOTSTRAP": None}
    unknown = {name.removeprefix("SKYLINE_") for name in service.environment(COMPOSE)} - set(known)
    assert not unknown
    usual = known[service.port_setting]
    assert usual is not None
    if service.name not in ("standby", "market", "ticker"):  # these serve no metrics unless told, or are a second one
        assert usual.default == service.port


def test_the_archives_flags_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        import_module("spark_jobs.archive").main(["--help"])
    known = capsys.readouterr().out
    archive = next(service for service in SERVICES if service.name == "archive")
    for flag in archive.command[1:]:
        assert not flag.startswith("--") or flag in known


def test_the_maintainers_group_is_the_one_that_the_demo_asks() -> None:
    assert next(field.default for field in fields(MaintainerConfig) if field.name == "group") == MAINTAINER_GROUP


def test_ports_are_published_on_loopback_and_lead_to_a_server(compose: dict[str, Any]) -> None:
    listening = {service.name: service.port for service in SERVICES} | {
        "kafka": 9094, "prometheus": 9090, "grafana": 3000,
    }  # fmt: skip
    for name, entry in compose["services"].items():
        for port in entry.get("ports", []):
            match = re.fullmatch(r"127\.0\.0\.1:\d+:(\d+)/tcp", port)
            assert match is not None, port
            assert int(match[1]) == listening[name]


def test_services_are_locked_down(compose: dict[str, Any]) -> None:
    for name, entry in compose["services"].items():
        assert entry["cap_drop"] == ["ALL"]
        assert entry["security_opt"] == ["no-new-privileges:true"]
        assert entry["restart"] in ("unless-stopped", "on-failure")
        assert name == "kafka" or entry["read_only"] is True
        assert name in BOUGHT or entry["user"] == "10001:10001"
        assert not entry["image"].endswith(":latest")
        assert re.search(r":v?\d+\.\d+\.\d+$", entry["image"]), entry["image"]


def test_start_order_follows_health(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name, entry in services.items():
        for other, how in entry.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[other], f"{name} waits for the health of {other}, which has no check"
            else:
                assert how["condition"] == "service_completed_successfully"
                assert services[other]["restart"] == "on-failure"
    assert services["topics"]["depends_on"] == {"kafka": {"condition": "service_healthy"}}


def test_spark_may_load_the_libraries_that_it_unpacks(compose: dict[str, Any]) -> None:
    """Docker mounts a tmpfs with noexec unless it is told; Parquet's snappy is a native library in /tmp."""
    place, _, options = compose["services"]["archive"]["tmpfs"][0].partition(":")
    assert place == "/tmp"
    assert "exec" in options.split(",")


def test_every_service_that_stays_has_a_health_check(compose: dict[str, Any]) -> None:
    for name, entry in compose["services"].items():
        assert ("healthcheck" in entry) == (name != "topics"), name


def test_volumes_are_declared_and_files_exist(compose: dict[str, Any], repository: Path) -> None:
    used = set()
    for entry in compose["services"].values():
        for volume in entry.get("volumes", []):
            source, _, target = volume.removesuffix(":rw").partition(":")
            if source.startswith("/"):
                assert Path(source).is_relative_to(repository)
                assert Path(source).exists(), source
                assert target.endswith(":ro")
            else:
                used.add(source)
    assert used == set(compose["volumes"])


def test_the_broker_is_set_up_like_the_local_one(compose: dict[str, Any]) -> None:
    told = {name: str(value) for name, value in compose["services"]["kafka"]["environment"].items()}
    for name, value in SETTINGS.items():
        assert told["KAFKA_" + name.upper().replace(".", "_")] == value
    assert compose["services"]["kafka"]["image"] == "apache/kafka:4.1.1"


def test_every_variable_is_in_the_example_with_its_default(repository: Path) -> None:
    text = (repository / "docker-compose.yml").read_text()
    used = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", text)) | dict.fromkeys(re.findall(r"\$\{(\w+):\?", text), "")
    lines = (repository / ".env.example").read_text().splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert example == used


def test_the_command_that_makes_topics_exists(compose: dict[str, Any]) -> None:
    module, command = compose["services"]["topics"]["command"]
    assert command in import_module(f"{module}.__main__").COMMANDS
