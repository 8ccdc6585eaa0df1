"""Java is found, or the one line that says what to install; as root on Debian it is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.local.java import JavaMissing, ensure_java, find_java, java_version
from tests.deploy.processes import ROOT


def _program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def _java(path: Path, version: str) -> Path:
    return _program(path, f"echo 'openjdk version \"{version}\"' >&2")


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory on PATH; no JAVA_HOME."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path


@pytest.mark.parametrize(("text", "version"), [("17.0.11", 17), ("21", 21), ("1.8.0_402", 8)])
def test_version(only: Path, text: str, version: int) -> None:
    assert java_version(str(_java(only / "java", text))) == version


def test_java_home_comes_first(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _java(only / "java", "17.0.1")
    newer = _java(only / "home" / "bin" / "java", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(only / "home"))
    assert find_java() == str(newer)


def test_a_java_home_too_old_falls_back_to_the_path(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usable = _java(only / "java", "17.0.1")
    _java(only / "home" / "bin" / "java", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(only / "home"))
    assert find_java() == str(usable)


@pytest.mark.usefixtures("only")
def test_missing_java_names_the_package() -> None:
    with pytest.raises(JavaMissing, match=r"^Java 17 or newer is needed: install openjdk-17-jre-headless or open"):
        find_java()


def test_too_old_java_is_named_with_its_version(only: Path) -> None:
    old = _java(only / "java", "11.0.2")
    with pytest.raises(JavaMissing, match=rf"\({old} is version 11\): install openjdk-17-jre-headless"):
        find_java()


def test_a_java_that_does_not_run_is_named(only: Path) -> None:
    broken = _program(only / "java", "exit 1")
    with pytest.raises(JavaMissing, match=f"{broken} does not run"):
        find_java()


def test_root_on_debian_installs_it(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = only / "apt.log"
    ready = _java(only / "ready", "17.0.1")
    _program(
        only / "apt-get",
        f'echo "$*" >> {log}; if [ "$1" = install ]; then /bin/cp {ready} {only / "java"}; fi',
    )
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert ensure_java() == str(only / "java")
    assert log.read_text().splitlines() == ["update -q", "install -yq --no-install-recommends openjdk-17-jre-headless"]


def test_setup_says_it_in_one_line(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    _program(only / "apt-get", "echo no such package >&2; exit 100")
    with pytest.raises(JavaMissing, match=r"apt-get could not install openjdk-17-jre-headless or open"):
        ensure_java()
    program = [sys.executable, "-m", "deploy.local.java"]
    told = subprocess.run(
        program, capture_output=True, text=True, check=False, cwd=ROOT, env={"PATH": str(only / "empty")}
    )
    assert (told.returncode, told.stdout) == (1, "")
    assert re.fullmatch(r"error: Java 17 or newer is needed: install openjdk-17-jre-headless .*\n", told.stderr)


def test_a_newer_debian_has_a_newer_one(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = _java(only / "ready", "21.0.1")
    _program(only / "apt-get", f'case "$*" in *-21-*) /bin/cp {ready} {only / "java"};; *-17-*) exit 100;; esac')
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert ensure_java() == str(only / "java")


def test_others_are_told(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(only / "apt-get", "exit 1")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(JavaMissing, match="install openjdk-17-jre-headless"):
        ensure_java()
