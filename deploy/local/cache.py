"""Where downloads and compiled kernels live: outside the clone, shared by every clone of this user."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent


def cache_dir() -> Path:
    """`SKYLINE_CACHE`, or skyline/ in the XDG cache directory."""
    chosen = os.environ.get("SKYLINE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skyline"


def numba_dir() -> Path:
    """Where kernels compiled from just these sources are kept; the Makefile says the same.

    numba asks only whether the file of a cached kernel has changed, not the files of the kernels and constants that it
    uses: after a pull, one directory for all would run old code inside new.
    """
    sources = sorted(path.relative_to(_ROOT).as_posix() for path in (_ROOT / "skyline").rglob("*.py"))
    digest = hashlib.sha256(b"".join((_ROOT / source).read_bytes() for source in sources))
    return cache_dir() / "numba" / digest.hexdigest()[:12]
