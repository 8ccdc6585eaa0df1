"""What the routes share: the service behind them, and parameters that many have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import orjson
from fastapi import Depends, Path, Query, Request
from starlette.responses import Response

from query.config import QueryConfig
from query.followed import FollowedView
from query.gate import Gate
from query.problems import bad_parameter, not_found
from query.table import State
from skyline.runtime.metrics import Metrics

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"

ViewName = Annotated[str, Path(description="Name of a view, as in views.toml", examples=["hotels"])]
MinOffset = Annotated[
    int | None,
    Query(
        ge=0, le=2**62, description="Wait until the update at this offset of V.updates is in: read your own writes",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class Service:
    """All that a route can use."""

    views: Mapping[str, FollowedView]
    config: QueryConfig
    gate: Gate
    metrics: Metrics

    def view(self, name: str) -> FollowedView:
        if name not in self.views:
            known = sorted(self.views)
            raise not_found("view", f"there is no view {name!r}", allowed=known, example=f"/views/{known[0]}")
        return self.views[name]

    async def state(self, view: FollowedView, min_offset: int | None) -> State:
        """The state to answer from, at `min_offset` or later."""
        return view.state if min_offset is None else await view.reach(min_offset, self.config.wait_seconds)


async def service(request: Request) -> Service:
    """Asynchronous, or every request would go through a thread and back for it."""
    found: Service = request.app.state.service
    return found


Here = Annotated[Service, Depends(service)]


_REPEATABLE: Final = ("where", "group")


def only(request: Request, *allowed: str) -> None:
    """Refuses parameters that do not exist, and a second value where one counts: neither must be ignored."""
    seen = set()
    for name, _ in request.query_params.multi_items():
        if name not in allowed:
            listed = ", ".join(allowed) or "none"
            raise bad_parameter(name, "there is no such parameter here", listed, f"{allowed[0]}=..." if allowed else "")
        if name in seen and name not in _REPEATABLE:
            raise bad_parameter(name, "it is given twice", "once", f"{name}=...")
        seen.add(name)


def answer(document: Mapping[str, Any]) -> Response:
    return Response(orjson.dumps(document), media_type=JSON)


def stamped(view: FollowedView, state: State, /, **fields: Any) -> Response:
    """An answer that says which state it speaks for."""
    return Response(view.encoder.head(state.stamp, **fields), media_type=JSON)
