"""Configuration: one frozen dataclass per service, filled from flags, then the environment, then defaults.

A field `metrics_port: int = setting(9101, "...")` is the flag --metrics-port and the variable SKYLINE_METRICS_PORT.
A field of type `tuple[str, ...]` is a flag that may be repeated, or a variable with commas. A positional field has no
flag.
Every setting of librdkafka can be given: SKYLINE_KAFKA_SASL_PASSWORD is `sasl.password`, `--kafka sasl.password=...`
the same as a flag. Secrets are never shown.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

from skyline.errors import InvalidInput
from skyline.view import View, views_of

_PREFIX: Final = "SKYLINE_"
_KAFKA_PREFIX: Final = "SKYLINE_KAFKA_"
_SECRET_WORDS: Final = ("password", "secret", "token", "jaas", "key.pem", "sasl.username", "oauthbearer.config")
_REPEATED: Final = tuple[str, ...]

Config = TypeVar("Config", bound="ServiceConfig")


def setting(default: Any, meaning: str, positional: bool = False) -> Any:
    """A field of a configuration, with its default and what it means. `positional`: given without a flag, required."""
    return field(default=default, metadata={"meaning": meaning, "positional": positional})


@dataclass(frozen=True)
class KafkaSettings:
    """Where the brokers are and how to talk to them. `str` and `repr` hide secrets."""

    bootstrap: str
    extra: Mapping[str, str] = field(default_factory=dict)

    def client(self, **own: Any) -> dict[str, Any]:
        """librdkafka settings of one client: `own` (with _ for .) over the common ones."""
        named = {_setting_name(name): value for name, value in own.items()}
        return {"bootstrap.servers": self.bootstrap, "log_level": 4, **self.extra, **named}

    def __repr__(self) -> str:
        shown = {name: "***" if is_secret(name) else value for name, value in self.extra.items()}
        return f"KafkaSettings({self.bootstrap!r}, {shown!r})"


@dataclass(frozen=True)
class ServiceConfig:
    """What every service is told."""

    kafka: KafkaSettings
    views: Path = setting(Path("views.toml"), "file that defines the views")
    log_level: str = setting("INFO", "DEBUG, INFO, WARNING or ERROR")


def is_secret(name: str) -> bool:
    return any(word in name.lower() for word in _SECRET_WORDS)


def load_views(path: Path) -> dict[str, View]:
    """The views of views.toml; every mistake is one line that names the file."""
    try:
        document = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise InvalidInput(f"{path} does not exist: it defines the views, see the README") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not TOML: {error}") from None
    try:
        return views_of(document)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def chosen_view(views: Mapping[str, View], name: str) -> View:
    """The view of that name, or an error that lists what there is."""
    if name not in views:
        raise InvalidInput(f"there is no view {name!r}; defined are: {', '.join(sorted(views))}")
    return views[name]


def configure(kind: type[Config], argv: Sequence[str], parser: argparse.ArgumentParser | None = None) -> Config:
    """Reads flags and environment into `kind`. Bad values end the program with one line, as argparse does."""
    parser = parser or argparse.ArgumentParser(description=(kind.__doc__ or "").splitlines()[0])
    add_kafka_arguments(parser)
    hints = get_type_hints(kind)
    own = [entry for entry in fields(kind) if entry.name != "kafka"]
    for entry in own:
        _add_argument(parser, entry, hints[entry.name])
    arguments = parser.parse_args(argv)
    values: dict[str, Any] = {}
    for entry in own:
        try:
            values[entry.name] = _value(entry, hints[entry.name], getattr(arguments, entry.name))
        except ValueError:
            text = getattr(arguments, entry.name) or os.environ.get(_variable(entry.name))
            parser.error(f"{_flag(entry.name)}: {text!r} is not {_kind_name(hints[entry.name])}")
    return kind(kafka=kafka_settings(arguments), **values)


def add_kafka_arguments(parser: argparse.ArgumentParser) -> None:
    """--bootstrap and --kafka NAME=VALUE."""
    parser.add_argument("--bootstrap", help="brokers, host:port,... (SKYLINE_BOOTSTRAP; default 127.0.0.1:9092)")
    parser.add_argument(
        "--kafka", action="append", default=[], metavar="NAME=VALUE", help="a librdkafka setting (SKYLINE_KAFKA_*)"
    )


def kafka_settings(arguments: argparse.Namespace) -> KafkaSettings:
    """Kafka settings of the environment, overridden by flags."""
    extra = {
        _setting_name(name.removeprefix(_KAFKA_PREFIX).lower()): value
        for name, value in os.environ.items()
        if name.startswith(_KAFKA_PREFIX)
    }
    for pair in arguments.kafka:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise InvalidInput("--kafka takes NAME=VALUE, such as --kafka security.protocol=SSL")
        extra[name] = value
    bootstrap = arguments.bootstrap or os.environ.get("SKYLINE_BOOTSTRAP") or "127.0.0.1:9092"
    return KafkaSettings(bootstrap, extra)


def _setting_name(name: str) -> str:
    """The librdkafka setting that is meant: all have dots, but for one."""
    return name if name == "log_level" else name.replace("_", ".")


def _variable(name: str) -> str:
    return _PREFIX + name.upper()


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _kind_name(kind: Any) -> str:
    return {int: "a whole number", float: "a number"}.get(kind, f"a {getattr(kind, '__name__', kind)}")


def _add_argument(parser: argparse.ArgumentParser, entry: Field[Any], kind: Any) -> None:
    if entry.metadata.get("positional"):
        many = "+" if kind == _REPEATED else None
        parser.add_argument(entry.name, nargs=many, help=entry.metadata["meaning"])
        return
    default = "" if entry.default in (MISSING, None, "", ()) else f"; default {entry.default}"
    meaning = f"{entry.metadata.get('meaning', '')} ({_variable(entry.name)}{default})".replace("%", "%%")
    action: dict[str, Any] = {"action": argparse.BooleanOptionalAction} if kind is bool else {}
    if kind == _REPEATED:
        action = {"action": "append"}
    parser.add_argument(_flag(entry.name), dest=entry.name, help=meaning, **action)


def _value(entry: Field[Any], kind: Any, given: Any) -> Any:
    text = given if given is not None else os.environ.get(_variable(entry.name))
    if text is None:
        return entry.default
    if kind is bool:
        return text if isinstance(text, bool) else _truth(text)
    if kind == _REPEATED:
        return tuple(text.split(",") if isinstance(text, str) else text)
    if kind in (int, float, Path):
        return kind(text)
    return text


def _truth(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off", ""):
        return False
    raise ValueError(text)
