"""The cache of jars: verified against the lock file, whole or not there, and clear about what went wrong."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local import jars as jars_module
from deploy.local.cache import cache_dir
from deploy.local.jars import KAFKA, JarsUnavailable, jars, locked


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of our own."""
    monkeypatch.setenv("SKYLINE_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that has Kafka's jars: links to those of the user's cache."""
    home = tmp_path / "jars" / KAFKA
    home.mkdir(parents=True)
    for jar in jars(KAFKA):
        os.symlink(jar, home / jar.name)
    monkeypatch.setenv("SKYLINE_CACHE", str(tmp_path))
    return home


def _pretend_download(monkeypatch: pytest.MonkeyPatch, left_out: str = "", damaged: str = "") -> None:
    """Ivy's part, without a network: every jar that the lock file names, but for one."""
    source = cache_dir() / "jars" / KAFKA

    def resolve(_name: str, scratch: Path) -> Path:
        found = scratch / "found"
        found.mkdir()
        for file in locked(KAFKA):
            if file == damaged:
                (found / file).write_bytes((source / file).read_bytes()[:-1])
            elif file != left_out:
                shutil.copy(source / file, found / file)
        return found

    monkeypatch.setattr(jars_module, "_resolve", resolve)


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYLINE_CACHE", "/a")
    assert cache_dir() == Path("/a")
    monkeypatch.delenv("SKYLINE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    assert cache_dir() == Path("/b/skyline")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir() == Path.home() / ".cache" / "skyline"


def test_with_the_cache_present_nothing_is_resolved(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(name: str, _scratch: Path) -> Path:
        raise AssertionError(f"{name} was resolved again")

    monkeypatch.setattr(jars_module, "_resolve", resolve)
    assert {jar.name for jar in jars(KAFKA)} == set(locked(KAFKA))
    assert all(jar.parent == whole for jar in jars(KAFKA))


def test_a_download_is_verified_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jars(KAFKA)
    _pretend_download(monkeypatch)
    monkeypatch.setenv("SKYLINE_CACHE", str(tmp_path))
    assert {jar.name for jar in jars(KAFKA)} == set(locked(KAFKA))
    assert [entry.name for entry in (tmp_path / "jars").iterdir()] == [KAFKA]


@pytest.mark.parametrize("how", ["left_out", "damaged"])
def test_a_half_finished_download_is_not_kept(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jars(KAFKA)
    last = list(locked(KAFKA))[-1]
    _pretend_download(monkeypatch, **{how: last})
    monkeypatch.setenv("SKYLINE_CACHE", str(tmp_path))
    problem = "is missing" if how == "left_out" else "is not the file that jars.lock names"
    with pytest.raises(JarsUnavailable, match=f"{last} {problem}; the download was not kept: try again"):
        jars(KAFKA)
    assert list((tmp_path / "jars").iterdir()) == []


def test_a_jar_that_went_missing_is_named(whole: Path) -> None:
    last = list(locked(KAFKA))[-1]
    (whole / last).unlink()
    with pytest.raises(JarsUnavailable, match=f"{last} is missing: remove {whole} and try again"):
        jars(KAFKA)


def test_a_jar_that_was_changed_is_named(whole: Path) -> None:
    last = list(locked(KAFKA))[-1]
    content = (whole / last).read_bytes()
    (whole / last).unlink()
    (whole / last).write_bytes(content + b"\0")
    with pytest.raises(JarsUnavailable, match=f"{last} is not the file that jars.lock names: remove {whole}"):
        jars(KAFKA)


def test_no_network_is_one_line(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real Ivy, with a proxy that nobody listens on."""
    nobody = "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1 -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=1"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", nobody)
    with pytest.raises(JarsUnavailable, match=rf"could not be resolved \(is there a network\?\): see {cache}"):
        jars(KAFKA)
    assert "UNRESOLVED" in (cache / f"{KAFKA}.resolve.log").read_text()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tiny", str(place)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_one_line(tiny_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jars(KAFKA)
    _pretend_download(monkeypatch)
    monkeypatch.setenv("SKYLINE_CACHE", str(tiny_disk))
    with pytest.raises(JarsUnavailable, match=f"no space left in {tiny_disk}/jars .* free some, or set SKYLINE_CACHE"):
        jars(KAFKA)


def test_other_trouble_with_the_disk_is_not_hidden(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(_name: str, _scratch: Path) -> Path:
        raise OSError(errno.EIO, "the disk is broken")

    monkeypatch.setattr(jars_module, "_resolve", resolve)
    with pytest.raises(OSError, match="the disk is broken"):
        jars(KAFKA)
    assert list((cache / "jars").iterdir()) == []
