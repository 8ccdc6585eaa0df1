"""`python -m deploy.prometheus.build`: what Prometheus scrapes in compose, from the table of services."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from deploy.local.services import COMPOSE, SERVICES, scrape_targets

TARGETS: Final = Path(__file__).parent / "targets" / "compose.json"


def written() -> str:
    """The file's content."""
    return json.dumps(scrape_targets(COMPOSE, SERVICES, by_name=True), indent=1) + "\n"


if __name__ == "__main__":
    TARGETS.write_text(written())
    print(TARGETS)
