"""Where downloads and compiled kernels live: outside the clone, shared by every clone of this user."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """`SKYLINE_CACHE`, or skyline/ in the XDG cache directory."""
    chosen = os.environ.get("SKYLINE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skyline"
