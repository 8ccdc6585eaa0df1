"""Jars of Kafka and of Spark's Kafka connector: resolved once into the cache, verified, then offline.

jars.lock names every file of a set with its SHA-256. A set is complete when its directory exists: it is filled
beside its place, verified, and renamed, so that a download that broke off leaves nothing that looks finished.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from deploy.local.cache import cache_dir
from deploy.local.java import find_java
from skyline.errors import SkylineError

KAFKA: Final = "kafka-4.1.1"
SPARK_KAFKA: Final = "spark-kafka-4.0.0"

_ROOTS: Final = {
    KAFKA: (
        ("org.apache.kafka", "kafka_2.13", "4.1.1"),
        ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),  # without a binding the broker logs nothing
        ("org.xerial.snappy", "snappy-java", "1.1.10.7"),
    ),
    SPARK_KAFKA: (("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.0.0"),),
}


class JarsUnavailable(SkylineError):
    """The jars could not be had, or are not the ones that the lock file names."""


def jars(name: str) -> list[Path]:
    """Files of the set, from the cache; resolves them first where they are missing. About 0.1 s to verify them all."""
    home = cache_dir() / "jars" / name
    expected = locked(name)
    if not home.is_dir():
        _fetch(name, expected, home)
    try:
        _verify(name, expected, home)
    except JarsUnavailable as error:
        raise JarsUnavailable(f"{error}: remove {home} and try again") from None
    return [home / file for file in expected]


def locked(name: str) -> dict[str, str]:
    """File name -> SHA-256 of the set, from jars.lock."""
    lines = (Path(__file__).parent / "jars.lock").read_text().splitlines()
    return {file: digest for key, file, digest in (line.split() for line in lines) if key == name}


def _fetch(name: str, expected: dict[str, str], home: Path) -> None:
    print(f"Resolving {name} ({len(expected)} jars), once: about a minute", flush=True)
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent, prefix=f".{name}-") as scratch:
            found = _resolve(name, Path(scratch))
            _verify_download(name, expected, found)
            ready = Path(scratch) / "ready"
            ready.mkdir()
            for file in expected:
                (found / file).rename(ready / file)
            _publish(ready, home)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise JarsUnavailable(
                f"no space left in {home.parent} for {name}: free some, or set SKYLINE_CACHE"
            ) from None
        raise


def _verify_download(name: str, expected: dict[str, str], found: Path) -> None:
    try:
        _verify(name, expected, found)
    except JarsUnavailable as error:
        raise JarsUnavailable(f"{error}; the download was not kept: try again") from None


def _publish(ready: Path, home: Path) -> None:
    try:
        ready.rename(home)
    except OSError:
        if not home.is_dir():  # another process may have finished first: its files are verified too
            raise


def _resolve(name: str, scratch: Path) -> Path:
    """Runs the Ivy that ships with pyspark, with directories of its own (a half-filled Maven cache breaks it)."""
    dependencies = "".join(
        f'<dependency org="{org}" name="{module}" rev="{revision}" conf="default->default"/>'
        for org, module, revision in _ROOTS[name]
    )
    recipe = scratch / "ivy.xml"
    recipe.write_text(
        f'<ivy-module version="2.0"><info organisation="skyline" module="{name}"/>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )
    found = scratch / "found"
    command = [
        find_java(), f"-Divy.default.ivy.user.dir={scratch / 'ivy'}", "-cp", f"{_pyspark_jars()}/*",
        "org.apache.ivy.Main", "-ivy", str(recipe), "-confs", "default",
        "-retrieve", f"{found}/[artifact]-[revision](-[classifier]).[ext]", "-types", "jar", "bundle",
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0 or not found.is_dir():
        if shutil.disk_usage(scratch).free < 2**20:
            raise OSError(errno.ENOSPC, "disk full")
        report = cache_dir() / f"{name}.resolve.log"
        report.write_text(result.stdout + result.stderr)
        raise JarsUnavailable(f"{name} could not be resolved (is there a network?): see {report}")
    return found


def _verify(name: str, expected: dict[str, str], directory: Path) -> None:
    for file, digest in expected.items():
        path = directory / file
        if not path.is_file():
            raise JarsUnavailable(f"{name}: {file} is missing")
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise JarsUnavailable(f"{name}: {file} is not the file that jars.lock names")


def _pyspark_jars() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JarsUnavailable("pyspark is not installed: run `make setup`")
    return Path(spec.origin).parent / "jars"
