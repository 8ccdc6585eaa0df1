"""What to do: the runbook's section of every alert as a panel, so that links lead there without leaving Grafana."""

from __future__ import annotations

import re
from typing import Final

from deploy.grafana.model import Dashboard, Text
from deploy.grafana.sections import NAME, SECTIONS, address


def _shown(section: str) -> str:
    """The section as a text panel takes it: one line per paragraph; links to other sections lead to their panels."""
    paragraphs = [" ".join(paragraph.split("\n")) for paragraph in section.strip().split("\n\n")]
    text = re.sub(r"\[(Skyline\w+)\]\(#\w+\)", lambda link: f"[{link[1]}]({address(link[1])})", "\n\n".join(paragraphs))
    return re.sub(r"\*\*(See|Do)\*\*", r"\n\n**\1**", text)


RUNBOOK: Final = Dashboard(
    name=NAME,
    title="Skyline: runbook",
    meaning="What each alert means, where to look and what to do: the last chapter of docs/operations.md.",
    variables=[],
    panels=[Text(alert, _shown(section)) for alert, section in SECTIONS.items()],
)
