"""Compiled kernels are kept apart by the sources they were compiled from, the same way by make and by the services."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from deploy.local import cache


def test_make_and_the_services_share_one_directory(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKYLINE_CACHE", str(tmp_path))
    environment = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "MAKEFLAGS")}
    shown = subprocess.run(
        ["make", "-pn", "help"], cwd=repository, env=environment, capture_output=True, text=True, check=True
    ).stdout
    kernels = next(line.partition(":= ")[2] for line in shown.splitlines() if line.startswith("KERNELS := "))
    assert cache.numba_dir() == tmp_path / "numba" / kernels


def test_another_state_of_any_kernel_has_another_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = tmp_path / "skyline" / "live"
    kernels.mkdir(parents=True)
    (kernels / "one_kernels.py").write_text("a = 1\n")
    (kernels / "two_kernels.py").write_text("b = 1\n")
    monkeypatch.setattr(cache, "_ROOT", tmp_path)
    before = cache.numba_dir()
    assert cache.numba_dir() == before
    (kernels / "two_kernels.py").write_text("b = 2\n")
    assert cache.numba_dir() != before
