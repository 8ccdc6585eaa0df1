"""Every workload by its name on the command line."""

from __future__ import annotations

from typing import Final

from ingest.workloads import papers
from ingest.workloads.market import market
from ingest.workloads.plan import Workload

WORKLOADS: Final[dict[str, Workload]] = {
    "market": market,
    "esc": papers.esc,
    "lookout": papers.lookout,
    "window": papers.window,
    "snapshots": papers.snapshots,
}
