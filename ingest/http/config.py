"""What `python -m ingest http` is told."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.publisher import QUEUE_MESSAGES
from skyline.errors import InvalidInput
from skyline.runtime.config import ServiceConfig, setting


@dataclass(frozen=True)
class HttpConfig(ServiceConfig):
    """Takes updates over HTTP (POST /views/VIEW/updates) and answers once the broker has written them."""

    view: str = setting("", "take updates of only these views, comma separated; default: all")
    host: str = setting("127.0.0.1", "address to listen on")
    port: int = setting(8081, "port to listen on; 0 takes a free one")
    max_body: int = setting(8 << 20, "largest request body in bytes; a larger one is answered 413")
    max_batch: int = setting(10_000, "most updates in one request; more are answered 413")
    max_in_flight: int = setting(50_000, "most updates under way to the broker; more are answered 429")
    max_held: int = setting(128 << 20, "most bytes of request bodies held at once; more are answered 429")
    max_lag: float = setting(2.0, "seconds that the oldest update under way may wait before others are answered 429")
    timeout: float = setting(30.0, "seconds that an update may wait for the broker before it counts as failed")
    max_ahead: str = setting("1h", "how far event times may lie ahead of the clock")
    replication: int = setting(-1, "replication factor of a topic it creates; -1 is the broker's default")

    def check(self) -> None:
        """Raises InvalidInput for limits that cannot hold together."""
        for name in ("max_body", "max_batch", "max_in_flight", "max_held", "max_lag", "timeout"):
            if not getattr(self, name) > 0:
                raise InvalidInput(f"--{name.replace('_', '-')} must be more than 0, got {getattr(self, name)}")
        if not self.max_batch <= self.max_in_flight <= QUEUE_MESSAGES:
            raise InvalidInput(
                f"--max-in-flight must lie between --max-batch ({self.max_batch}), or no full batch could ever be "
                f"sent, and {QUEUE_MESSAGES}, the producer's queue; got {self.max_in_flight}"
            )
        if not 0 <= self.port <= 65535:
            raise InvalidInput(f"--port must be a port, 0 to 65535, got {self.port}")
        if self.max_held < self.max_body:
            raise InvalidInput(f"--max-held {self.max_held} is less than one body of --max-body {self.max_body}")
