"""One view's service on its own, without a broker."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from maintainer.config import MaintainerConfig
from maintainer.service import ViewService
from skyline.runtime.config import KafkaSettings
from skyline.runtime.metrics import Metrics
from skyline.view import View


def test_a_failure_is_told_at_once_and_shows_in_its_health(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not only when the other views of the process have ended: until then it may have been killed."""
    kafka = KafkaSettings("127.0.0.1:1", {"group.protocol": "nonsense"})
    view, stop = View.of("hotels", {"dimensions": {"price": "min"}}), threading.Event()
    service = ViewService(view, MaintainerConfig(kafka, state=tmp_path), Metrics(CollectorRegistry()), stop)
    service.start()
    assert stop.wait(60)
    assert "hotels: " in caplog.text
    assert "nonsense" in caplog.text
    assert "nonsense" in (service.alive() or "")
    assert "nonsense" in (service.ready() or "")
    service.join()
