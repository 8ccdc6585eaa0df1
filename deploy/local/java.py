"""Finds a Java that can run Kafka and Spark, and says in one line what to do when there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from skyline.errors import SkylineError

MINIMUM = 17
PACKAGE = "openjdk-17-jre-headless"


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
    raise JavaMissing(f"Java {MINIMUM} or newer is needed{found}: install {PACKAGE}, or point JAVA_HOME at one")


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
    """`find_java`, after installing the package where that needs no question: as root on Debian."""
    try:
        return find_java()
    except JavaMissing:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise
    print(f"Java {MINIMUM} is missing: installing {PACKAGE}", flush=True)
    for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-yq", "--no-install-recommends", PACKAGE]):
        subprocess.run(command, check=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    return find_java()
