"""Continuous skylines: the Pareto frontier of data that changes.

The names below are the library's interface. They are imported on first use, so that a service that only reads
records does not pay for compiling engines.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skyline.errors import InvalidInput, SkylineError
from skyline.view import NEVER

if TYPE_CHECKING:
    from skyline.batch import SnapshotSkyline, skyband_of, skyline_of
    from skyline.live import Change, Changes, Skyline
    from skyline.search import SkylineIndex
    from skyline.window import SkylineWindow

_HOMES = {
    "Change": "skyline.live",
    "Changes": "skyline.live",
    "Skyline": "skyline.live",
    "SkylineIndex": "skyline.search",
    "SkylineWindow": "skyline.window",
    "SnapshotSkyline": "skyline.batch",
    "skyband_of": "skyline.batch",
    "skyline_of": "skyline.batch",
}

__all__ = [
    "NEVER",
    "Change",
    "Changes",
    "InvalidInput",
    "Skyline",
    "SkylineError",
    "SkylineIndex",
    "SkylineWindow",
    "SnapshotSkyline",
    "skyband_of",
    "skyline_of",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'skyline' has no attribute {name!r}")
