"""Whatever the OpenAPI document allows, and a good deal that it does not, the service never fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error

from skyline.runtime.config import KafkaSettings
from tests.query.harness import Query, Stack, updates

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def bare(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """A service that does not wait for offsets that were made up."""
    view = stack.view("fuzzed")
    stack.publish(view, updates(seed=51, count=300))
    query = Query(
        KafkaSettings(stack.kafka.bootstrap), stack.path, tmp_path_factory.mktemp("fuzzed"), "--only", view.name,
        "--wait-seconds", "0.01",
    )  # fmt: skip
    query.wait_ready()
    yield query
    assert query.stop() == 0, query.text()[-3000:]


@pytest.fixture(scope="module")
def document(bare: Query) -> Any:
    return schemathesis.openapi.from_url(bare.address + "/openapi.json")


def test_no_request_makes_the_service_fail(document: Any, stack: Stack) -> None:
    for operation in document.get_all_operations():
        _try(operation.ok(), stack.view("fuzzed").name)


def _try(operation: Any, view: str) -> None:
    """Requests that the document allows, on a view that is there and on others."""

    @settings(max_examples=25, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(operation.as_strategy())
    def attempt(case: Any) -> None:
        if "view" in (case.path_parameters or {}) and len(str(case.path_parameters["view"])) % 4:
            case.path_parameters["view"] = view
        # a stream has no end; pages take the same parameters
        response = case.call(headers={"Accept": "application/json"}, timeout=30)
        case.validate_response(response, checks=[not_a_server_error])

    attempt()


def test_the_document_has_an_example_of_every_answer(bare: Query) -> None:
    document = httpx.get(bare.address + "/openapi.json", timeout=30).json()
    for path, operations in document["paths"].items():
        if path.startswith("/views"):
            content = operations["get"]["responses"]["200"]["content"]["application/json"]
            assert content["example"], path
            assert operations["get"]["summary"], path
