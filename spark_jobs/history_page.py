"""One self-contained HTML page: data, plotly and styles inside, nothing from the network, light or dark."""

from __future__ import annotations

import html
import json
import re
from importlib.resources import files
from typing import Any

from plotly.offline import get_plotlyjs


def page(title: str, facts: dict[str, Any]) -> str:
    """history_page.html, filled with `facts` (see history_report). About 5 MB, nearly all of it plotly."""
    template = files("spark_jobs").joinpath("history_page.html").read_text(encoding="utf-8")
    parts = {
        "title": html.escape(title),
        "facts": json.dumps(facts, allow_nan=False).replace("<", "\\u003c"),  # neither </script> nor <!-- counts
        "plotly": get_plotlyjs(),
    }
    return re.sub(r"@(title|facts|plotly)@", lambda match: parts[match[1]], template)
