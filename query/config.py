"""What the query service is told."""

from __future__ import annotations

from dataclasses import dataclass

from skyline.runtime.config import ServiceConfig, setting


@dataclass(frozen=True)
class QueryConfig(ServiceConfig):
    """Answers questions about each view over HTTP, and streams its changes."""

    only: str = setting("", "serve only these views, comma separated; default: all")
    host: str = setting("127.0.0.1", "address of the API, the page, /metrics, /healthz and /readyz")
    port: int = setting(8080, "port of all of these; 0 takes a free one")
    workers: int = setting(2, "threads that search; requests beyond them queue")
    queue: int = setting(64, "requests that may wait for a thread; further ones are turned away")
    time_limit: float = setting(5.0, "seconds that one request may compute, waiting included")
    max_results: int = setting(20_000, "members in one JSON answer; ask for NDJSON or a limit to go beyond")
    wait_seconds: float = setting(5.0, "the longest that min_offset waits")
    history: int = setting(5_000_000, "changes of each view that are held, for as_of, history and resuming streams")
    stream_buffer: int = setting(1_048_576, "bytes that a change stream may lag behind before it is dropped")
    max_readers: int = setting(5_000, "open change streams, over all views")
    replication: int = setting(-1, "replication factor of topics it creates; -1 is the broker's default")
