"""Requests made up from /openapi.json: whatever comes, the answer is one that the description knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.ingest.harness import HOTELS, WINDOW, views_file
from tests.ingest.http_service import http_service

pytestmark = pytest.mark.kafka
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def operation(broker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    directory = tmp_path_factory.mktemp("http")
    views = views_file(directory, described=HOTELS, elements=WINDOW)
    with http_service(directory, broker.address, views) as service:
        schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{service.port}/openapi.json")
        yield schema["/views/{view}/updates"]["POST"]
        assert "Traceback" not in service.source.text


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_a_described_one(mode: GenerationMode, operation: Any) -> None:
    seen: set[int] = set()

    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        seen.add(case.call_and_validate(checks=CHECKS).status_code)

    ask()
    assert seen & {200, 207, 422}, "no request reached the view's rules"
