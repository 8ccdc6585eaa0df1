"""Skylines over sliding windows of a stream: n-of-N and (n1, n2)-of-N, asked once or standing."""

from skyline.window.changes import WindowChange, WindowChanges
from skyline.window.watch import Watch
from skyline.window.window import SkylineWindow

__all__ = ["SkylineWindow", "Watch", "WindowChange", "WindowChanges"]
