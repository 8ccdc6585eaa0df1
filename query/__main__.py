"""`python -m query --views views.toml`: the composition root."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import resource
import socket
import sys
import threading
from collections.abc import Generator, Sequence
from typing import Final

import uvicorn
from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from query.app import create_app
from query.config import QueryConfig
from query.connections import Connections
from query.followed import FollowedView
from query.follower import Ends
from query.gate import Gate
from query.routes.common import Service
from query.warm import warm_up
from skyline.errors import InvalidInput, SkylineError
from skyline.runtime.config import chosen_view, configure, load_views
from skyline.runtime.metrics import Metrics
from skyline.runtime.process import run, set_up_logging, stop_on_signals
from skyline.runtime.topics import ensure_topics
from skyline.view import View

_log = logging.getLogger("query")
_SWITCH_SECONDS: Final = 0.0001
"""How long a thread may keep the interpreter while others want it; Python's 5 ms would be most of a request's time."""

_FILES: Final = 65_536
"""Open files that are asked for, if so many are allowed: every connection is one, and shells give 1,024."""


class Server(uvicorn.Server):
    """Leaves signals to the process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def main(argv: Sequence[str]) -> int:
    config = configure(QueryConfig, argv)
    set_up_logging(config.log_level)
    sys.setswitchinterval(_SWITCH_SECONDS)
    _allow_connections()
    views = _chosen(config)
    listener = _listen(config)
    for view in views:
        ensure_topics(config.kafka, view, replication=config.replication)
        _log.info("%s: preparing; the first start on a machine compiles for a while", view.name)
        warm_up(view)
    stop = stop_on_signals()
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    metrics = Metrics(registry)
    followed = {view.name: FollowedView(view, config, metrics, stop) for view in views}
    gate = Gate(config.workers, config.queue, config.time_limit)
    app = create_app(Service(followed, config, gate, metrics))
    for view_ in followed.values():
        view_.start()
    Ends(config.kafka, [part for view_ in followed.values() for part in (view_.updates, view_.changes)], stop).start()
    gc.freeze()
    names = ", ".join(followed)
    _log.info("serving %s on http://%s:%d", names, config.host, listener.getsockname()[1])
    server = Server(
        uvicorn.Config(
            app, ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=2, timeout_keep_alive=60
        )
    )
    asyncio.run(_serve(server, listener, followed, stop))
    for view_ in followed.values():
        view_.join()
    return _report(followed)


async def _serve(
    server: Server, listener: socket.socket, followed: dict[str, FollowedView], stop: threading.Event
) -> None:
    """Serves until `stop`; then ends the streams, so that the server can end."""
    serving = asyncio.create_task(server.serve([listener]))
    watching = asyncio.create_task(Connections(server.server_state.connections).watch())
    await asyncio.to_thread(stop.wait)
    _log.info("stopping")
    for view in followed.values():
        view.feed.close()
    server.should_exit = True
    await serving
    watching.cancel()


def _allow_connections() -> None:
    """Raises the limit of open files as far as it may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _listen(config: QueryConfig) -> socket.socket:
    """Takes the port, so that a mistake shows at once; connections are refused until the server listens."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # the protocol must be named: without it asyncio does not turn off the delay that makes an answer wait for 40 ms
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((config.host, config.port))
        return listener
    except OSError as error:
        raise InvalidInput(f"the API cannot be served on {config.host}:{config.port}: {error.strerror}") from None


def _chosen(config: QueryConfig) -> list[View]:
    views = load_views(config.views)
    names = [name.strip() for name in config.only.split(",") if name.strip()]
    return [chosen_view(views, name) for name in names] if names else list(views.values())


def _report(followed: dict[str, FollowedView]) -> int:
    failures = [(name, part.failure) for name, view in followed.items() for part in (view.updates, view.changes)]
    failed = [(name, failure) for name, failure in failures if failure is not None]
    for name, failure in failed:
        expected = isinstance(failure, SkylineError)
        _log.error("%s: %s", name, failure if expected else repr(failure), exc_info=None if expected else failure)
    if failed:
        logging.shutdown()
        os._exit(1)  # crash-only: a thread that still waits for the broker must not delay the restart
    return 0


if __name__ == "__main__":
    run(main)
