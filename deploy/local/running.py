"""Services of the table as children of this process: start them, wait until each is ready, notice one that ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from deploy.images.probe import answers
from deploy.local.services import Place, Service
from deploy.local.stack import Stack
from skyline.errors import SkylineError


class ServiceEnded(SkylineError):
    """A service ended by itself; its lines say why."""


def start_all(
    stack: Stack, place: Place, chosen: Sequence[Service], tell: Callable[[str], None] = lambda _: None
) -> None:
    """Starts the services and returns once each one with a port says that it is ready.

    A standby comes last: what the maintainer had to compile, it finds in the cache. `tell` hears again and again who
    is waited for, and for how long already.
    """
    first = [service for service in chosen if service.part != "standby"]
    for together in (first, [service for service in chosen if service not in first]):
        for service in together:
            stack.start(service.name, service.arguments(place), service.environment(place))
        _wait_until_ready(stack, place, together, tell)


def _wait_until_ready(stack: Stack, place: Place, started: Sequence[Service], tell: Callable[[str], None]) -> None:
    waiting = [service for service in started if service.port is not None]
    since = time.monotonic()
    while waiting:
        refuse_ended(stack)
        names = ", ".join(service.name for service in waiting)
        tell(f"{names}: {time.monotonic() - since:.0f} s (the first time, kernels are compiled: about a minute)")
        waiting = [service for service in waiting if not answers(f"http://127.0.0.1:{service.port_at(place)}/readyz")]
        time.sleep(0.1)


def refuse_ended(stack: Stack) -> None:
    """Raises `ServiceEnded` when a service has ended by itself."""
    ended = stack.ended()
    if ended is not None:
        name, code = ended
        said = "".join(f"\n  {line}" for line in stack.said(name))
        raise ServiceEnded(f"{name} ended with code {code}; its last lines:{said}")
