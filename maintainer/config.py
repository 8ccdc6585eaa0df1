"""What the maintainer is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skyline.errors import InvalidInput
from skyline.runtime.config import ServiceConfig, setting


@dataclass(frozen=True)
class MaintainerConfig(ServiceConfig):
    """Keeps the skyline of each view current and publishes every change exactly once."""

    only: str = setting("", "maintain only these views, comma separated; default: all")
    group: str = setting("skyline-maintainer", "prefix of consumer groups and transactional ids")
    state: Path = setting(Path(".local/checkpoints"), "directory for checkpoints; share it with the standby")
    checkpoint_seconds: float = setting(60.0, "time between checkpoints; 0 writes none but the last")
    session_timeout_ms: int = setting(6_000, "silence after which the group gives a view to the standby")
    replication: int = setting(-1, "replication factor of topics it creates; -1 is the broker's default")
    metrics_host: str = setting("127.0.0.1", "address for /metrics, /healthz and /readyz")
    metrics_port: int = setting(9101, "port for /metrics, /healthz and /readyz; 0 takes a free one")

    def check(self) -> None:
        """Raises InvalidInput for numbers that mean nothing."""
        if not self.checkpoint_seconds >= 0:
            raise InvalidInput(f"--checkpoint-seconds must be 0 or more, got {self.checkpoint_seconds}")
        if self.session_timeout_ms < 1:
            raise InvalidInput(f"--session-timeout-ms must be more than 0, got {self.session_timeout_ms}")
