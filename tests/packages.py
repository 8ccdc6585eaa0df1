"""Programs that tests run and Python cannot bring: found, or installed where that needs no question."""

from __future__ import annotations

import os
import shutil
import subprocess
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from tempfile import gettempdir

import pytest

PACKAGES = {
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "docker-compose": "docker-compose",
    "chromium": "chromium",
}
"""Program -> Debian package."""


@cache
def _install(package: str) -> str | None:
    """Installs the package; what went wrong, if anything."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return f"install the package {package}"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with (Path(gettempdir()) / "skyline-tests-install.lock").open("w") as lock:
        flock(lock, LOCK_EX)  # the tests may run in several processes, apt-get in one
        for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-yq", "--no-install-recommends", package]):
            result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
            if result.returncode != 0:
                return f"{' '.join(command)} failed: {result.stderr.strip().splitlines()[-1:]}"
    return None


def program(name: str) -> str:
    """Path of the program; installs its package as root on Debian; skips the test where that is impossible."""
    path = shutil.which(name)
    if path is None:
        trouble = _install(PACKAGES[name])
        path = shutil.which(name)
        if path is None:
            pytest.skip(f"{name} is not there: {trouble or f'package {PACKAGES[name]} does not bring it'}")
    return path
