"""docker-compose.yml says what the table of services says, and names nothing that does not exist."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from deploy.local.broker import die_with_parent
from deploy.local.broker_config import SETTINGS
from deploy.local.jars import KAFKA, jars
from deploy.local.java import find_java
from deploy.local.ports import free_port
from deploy.local.services import COMPOSE, MAINTAINER_GROUP, SERVICES, Service
from ingest.generate import GenerateConfig
from ingest.http.config import HttpConfig
from ingest.ticker import TickConfig
from maintainer.config import MaintainerConfig
from query.config import QueryConfig
from skyline.runtime.config import ServiceConfig
from tests.deploy.processes import wait_until
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


def test_a_service_that_reads_a_long_log_first_is_not_given_up(compose: dict[str, Any]) -> None:
    """`up` fails as soon as one that another waits for is unhealthy."""
    for entry in compose["services"].values():
        assert entry.get("healthcheck", {"start_period": "15m"})["start_period"] == "15m"


def test_kafka_stays_on_loopback_wherever_the_others_are_published(repository: Path) -> None:
    """It asks for no password, and tells its clients to come to 127.0.0.1."""
    result = _resolved(repository, GRAFANA_PASSWORD="secret", BIND_ADDRESS="0.0.0.0")
    published = {name: entry.get("ports", []) for name, entry in yaml.safe_load(result.stdout)["services"].items()}
    assert published["kafka"] == ["127.0.0.1:9094:9094/tcp"]
    assert published["query"] == ["0.0.0.0:8080:8080/tcp"]


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


@pytest.mark.kafka
def test_a_broker_starts_with_what_its_image_makes_of_its_environment(compose: dict[str, Any], tmp_path: Path) -> None:
    """The image's own program, which is in Kafka's jar, writes the configuration and formats the volume."""
    told = {name: str(value) for name, value in compose["services"]["kafka"]["environment"].items()}
    ports = {inside: str(free_port()) for inside in ("9092", "9093", "9094")}
    environment = {name: re.sub(r"\b909[234]\b", lambda port: ports[port[0]], value) for name, value in told.items()}
    environment |= {"KAFKA_LOG_DIRS": str(tmp_path / "data"), "PATH": os.environ["PATH"]}
    listeners = environment["KAFKA_ADVERTISED_LISTENERS"]
    environment["KAFKA_ADVERTISED_LISTENERS"] = listeners.replace("//kafka:", "//localhost:")
    for place in ("default", "mounted", "final"):
        (tmp_path / place).mkdir()
    for file in ("server.properties", "log4j2.yaml", "tools-log4j2.yaml"):
        (tmp_path / "default" / file).touch()
    java = [find_java(), "-cp", os.pathsep.join(map(str, jars(KAFKA)))]
    setup = ["kafka.docker.KafkaDockerWrapper", "setup"]
    for place in ("default", "mounted", "final"):
        setup += [f"--{place}-configs-dir", str(tmp_path / place)]
    done = subprocess.run([*java, *setup], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with _running([*java, "kafka.Kafka", str(tmp_path / "final" / "server.properties")], tmp_path / "log"):
        for inside, host in (("9094", "127.0.0.1"), ("9092", "localhost")):
            address = f"127.0.0.1:{ports[inside]}"
            wait_until(lambda address=address: _brokers(address))
            assert _brokers(address) == [f"{host}:{ports[inside]}"]


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, preexec_fn=die_with_parent)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def _brokers(address: str) -> list[str]:
    """Where the broker at this address tells its clients to go; nothing as long as none answers."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0, "socket.timeout.ms": 2000})
    try:
        return [f"{broker.host}:{broker.port}" for broker in admin.list_topics(timeout=2).brokers.values()]
    except KafkaException:
        return []


def test_every_variable_is_in_the_example_with_its_default(repository: Path) -> None:
    text = (repository / "docker-compose.yml").read_text()
    used = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", text)) | dict.fromkeys(re.findall(r"\$\{(\w+):\?", text), "")
    lines = (repository / ".env.example").read_text().splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert example == used


def test_the_command_that_makes_topics_exists(compose: dict[str, Any]) -> None:
    module, command = compose["services"]["topics"]["command"]
    assert command in import_module(f"{module}.__main__").COMMANDS
