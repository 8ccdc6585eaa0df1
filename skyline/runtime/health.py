"""A small HTTP server beside the work: /metrics for Prometheus, /healthz and /readyz for orchestrators."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from skyline.errors import InvalidInput

Probe = Callable[[], str | None]
"""Returns None when all is well, or what is wrong, in one line."""


class HealthServer:
    """Serves until `close`. Port 0 takes a free one; `port` tells which."""

    def __init__(self, host: str, port: int, registry: CollectorRegistry, alive: Probe, ready: Probe) -> None:
        pages: dict[str, Callable[[], tuple[HTTPStatus, str, bytes]]] = {
            "/metrics": lambda: (HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(registry)),
            "/healthz": lambda: _answer(alive),
            "/readyz": lambda: _answer(ready),
        }

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = pages.get(self.path.partition("?")[0])
                nothing = (HTTPStatus.NOT_FOUND, "text/plain", b"try /metrics, /healthz or /readyz\n")
                status, kind, body = page() if page else nothing
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Scrapes are not news."""

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except (OSError, OverflowError) as error:  # the latter for a port that is none
            why = getattr(error, "strerror", None) or error
            raise InvalidInput(f"metrics cannot be served on {host}:{port}: {why}") from None
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, name="health", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _answer(probe: Probe) -> tuple[HTTPStatus, str, bytes]:
    trouble = probe()
    status = HTTPStatus.OK if trouble is None else HTTPStatus.SERVICE_UNAVAILABLE
    return status, "text/plain", f"{trouble or 'ok'}\n".encode()
