"""Which services the local stack runs, and how each is told where the others are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from deploy.local.stack import Stack

MAINTAINER_GROUP: Final = "skyline-maintainer"
GENERATORS: Final = ("market", "ticker")


def start_services(
    stack: Stack, bootstrap: str, views: Path, home: Path, *, demo: bool = False, only_demo: bool = False
) -> None:
    """Starts the services; `only_demo` leaves out those that the demo's picture does not need."""
    common = ["--views", str(views), "--bootstrap", bootstrap]
    ports = "0" if only_demo else ""
    stack.start(
        "maintainer", "maintainer", *common, "--state", str(home / "checkpoints"), "--metrics-port", ports or "9101"
    )
    if not only_demo:
        stack.start("ingest", "ingest", "http", *common)
        stack.start("query", "query", *common)
    if demo:
        stack.start("market", "ingest", "generate", *common, "--view", "spot", "--rate", "300")
        stack.start("ticker", "ingest", "tick", *common, "--view", "spot")
