"""Finds a Java that can run Kafka and Spark, and says in one line what to do when there is none.

`python -m deploy.local.java` is the step of `make setup` that sees to it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from skyline.errors import SkylineError
from skyline.runtime.process import run

MINIMUM: Final = 17
PACKAGES: Final = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")
"""Debian 12 has the first, Debian 13 only the second."""


class JavaMissing(SkylineError):
    """No usable Java."""


def find_java() -> str:
    """Path of a `java` of version 17 or newer: JAVA_HOME first, then PATH."""
    home = os.environ.get("JAVA_HOME")
    candidates = [str(Path(home) / "bin" / "java")] if home else []
    on_path = shutil.which("java")
    if on_path:
        candidates.append(on_path)
    seen = []
    for candidate in candidates:
        version = java_version(candidate)
        if version is not None and version >= MINIMUM:
            return candidate
        seen.append(f"{candidate} is version {version}" if version else f"{candidate} does not run")
    found = f" ({'; '.join(seen)})" if seen else ""
    packages = " or ".join(PACKAGES)
    raise JavaMissing(f"Java {MINIMUM} or newer is needed{found}: install {packages}, or point JAVA_HOME at one")


def java_version(java: str) -> int | None:
    """Major version that `java -version` prints, or None if it does not run."""
    try:
        result = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', result.stderr)
    if match is None:
        return None
    major = int(match[1])
    return int(match[2]) if major == 1 and match[2] else major


def ensure_java() -> str:
    """`find_java`, after installing a package where that needs no question: as root on Debian."""
    try:
        return find_java()
    except JavaMissing:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise
    print(f"Java {MINIMUM} is missing: installing it", flush=True)
    _apt_get("update", "-q")
    if not any(_apt_get("install", "-yq", "--no-install-recommends", package) for package in PACKAGES):
        raise JavaMissing(f"Java {MINIMUM} or newer is needed, and apt-get could not install {' or '.join(PACKAGES)}")
    return find_java()


def _apt_get(*arguments: str) -> bool:
    """Whether it worked; what it says is there to be read."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(["apt-get", *arguments], check=False, env=environment).returncode == 0


if __name__ == "__main__":
    run(lambda _: 0 if ensure_java() else 1)
