"""The runbook's sections, in docs/operations.md: one for each alert, and where Grafana shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

NAME: Final = "runbook"
"""Of the dashboard whose panels are the sections."""

_DOCUMENT: Final = Path(__file__).parent.parent.parent / "docs" / "operations.md"
_PARTS: Final = re.split(r"^### (Skyline\w+)$", _DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)

SECTIONS: Final = dict(zip(_PARTS[1::2], _PARTS[2::2], strict=True))
"""Alert -> what the runbook says about it. The alerts are the document's last chapter."""


def address(alert: str = "") -> str:
    """Where the runbook is read in Grafana: all of it, or the section of one alert."""
    page = f"/d/skyline-{NAME}"
    return f"{page}?viewPanel={list(SECTIONS).index(alert) + 1}" if alert else page
