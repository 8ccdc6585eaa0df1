"""Configuration: flags over environment over defaults, one line for every mistake, no secret ever shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from maintainer.config import MaintainerConfig
from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings, ServiceConfig, chosen_view, configure, load_views, setting
from skyline.runtime.process import set_up_logging


@dataclass(frozen=True)
class Everything(ServiceConfig):
    """A configuration with a field of every kind."""

    count: int = setting(3, "a count")
    share: float = setting(0.5, "a share of 100 %")
    loud: bool = setting(False, "loud")
    tags: tuple[str, ...] = setting((), "tags")
    place: Path = setting(Path("here"), "a place")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SKYLINE_BOOTSTRAP", "SKYLINE_COUNT", "SKYLINE_LOUD", "SKYLINE_TAGS", "SKYLINE_VIEWS"):
        monkeypatch.delenv(name, raising=False)


def test_defaults() -> None:
    config = configure(Everything, [])
    assert config == Everything(KafkaSettings("127.0.0.1:9092"))


def test_flags_win_over_the_environment_and_that_over_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYLINE_COUNT", "5")
    monkeypatch.setenv("SKYLINE_LOUD", "yes")
    monkeypatch.setenv("SKYLINE_TAGS", "a,b")
    monkeypatch.setenv("SKYLINE_BOOTSTRAP", "far:1")
    config = configure(Everything, ["--count", "7", "--place", "/there", "--bootstrap", "near:2"])
    assert (config.count, config.loud, config.tags, config.place) == (7, True, ("a", "b"), Path("/there"))
    assert config.kafka.bootstrap == "near:2"
    config = configure(Everything, ["--no-loud", "--tags", "x", "--tags", "y"])
    assert (config.count, config.loud, config.tags, config.kafka.bootstrap) == (5, False, ("x", "y"), "far:1")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--count", "many"], "--count: 'many' is not a whole number"),
        (["--share", "half"], "--share: 'half' is not a number"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_a_mistake_is_one_line(flags: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        configure(Everything, flags)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err.splitlines()[-1]


def test_a_bad_variable_is_named_with_its_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SKYLINE_LOUD", "perhaps")
    with pytest.raises(SystemExit):
        configure(Everything, [])
    assert "'perhaps'" in capsys.readouterr().err


def test_help_names_flags_variables_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        configure(MaintainerConfig, ["--help"])
    text = " ".join(capsys.readouterr().out.split())
    for words in ("--checkpoint-seconds", "SKYLINE_CHECKPOINT_SECONDS; default 60.0", "--kafka NAME=VALUE"):
        assert words in text


def test_client_settings_come_from_variables_and_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYLINE_KAFKA_SECURITY_PROTOCOL", "SASL_SSL")
    monkeypatch.setenv("SKYLINE_KAFKA_SASL_PASSWORD", "hush")
    monkeypatch.setenv("SKYLINE_KAFKA_LOG_LEVEL", "2")
    kafka = configure(Everything, ["--kafka", "sasl.mechanisms=PLAIN", "--kafka", "sasl.username=me"]).kafka
    assert kafka.client(group_id="g", linger_ms=5) == {
        "bootstrap.servers": "127.0.0.1:9092",
        "log_level": "2",
        "security.protocol": "SASL_SSL",
        "sasl.password": "hush",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "me",
        "group.id": "g",
        "linger.ms": 5,
    }


@pytest.mark.parametrize(
    "name",
    [
        "sasl.password", "SASL.PASSWORD", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem", "sasl.username",
        "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config", "sasl.jaas.config",
    ],
)  # fmt: skip
def test_secrets_are_never_shown(name: str) -> None:
    config = configure(Everything, ["--kafka", f"{name}=hush", "--kafka", "client.id=me"])
    for shown in (repr(config), str(config), f"{config.kafka}", repr(config.kafka)):
        assert "hush" not in shown
        assert "'client.id': 'me'" in shown


def test_a_setting_without_a_value_is_refused() -> None:
    with pytest.raises(InvalidInput, match="NAME=VALUE"):
        configure(Everything, ["--kafka", "sasl.password"])


def test_views_are_read_and_every_mistake_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "views.toml"
    with pytest.raises(InvalidInput, match="does not exist"):
        load_views(file)
    for text, words in [
        ("[", "is not TOML"),
        ("", "no view is defined"),
        ("[v]\nengine = 3", "dimensions are missing"),
    ]:
        file.write_text(text)
        with pytest.raises(InvalidInput, match=words) as problem:
            load_views(file)
        assert str(file) in str(problem.value)
    file.write_text('[v]\ndimensions = { x = "min" }\n')
    views = load_views(file)
    assert chosen_view(views, "v") is views["v"]
    with pytest.raises(InvalidInput, match="there is no view 'w'; defined are: v"):
        chosen_view(views, "w")


def test_an_unknown_log_level_is_refused() -> None:
    with pytest.raises(InvalidInput, match="DEBUG, INFO, WARNING, ERROR, got 'LOUD'"):
        set_up_logging("LOUD")
