"""Updates over HTTP, on a real broker: what is written, what is refused, what is answered."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest

from skyline.runtime.config import KafkaSettings
from tests.ingest.harness import HOTELS, WINDOW, objects, records, views_file
from tests.ingest.http_service import LINES, Service, http_service, problem

pytestmark = pytest.mark.kafka
FIELDS = {"price": 80.0, "rating": 4.1, "city": "Rome"}
MAX_BODY = 200_000
MAX_BATCH = 500


@pytest.fixture(scope="module")
def service(broker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("http")
    views = views_file(directory, hotels=HOTELS, deals=WINDOW)
    limits = ["--max-body", str(MAX_BODY), "--max-batch", str(MAX_BATCH)]
    with http_service(directory, broker.address, views, *limits) as running:
        yield running


def test_one_update(service: Service, kafka: KafkaSettings) -> None:
    answer = service.post("hotels", {"key": "h1", "value": FIELDS, "at": 1_700_000_000_123})
    assert answer.status_code == 200
    document = answer.json()
    assert (document["topic"], document["partition"], document["written"]) == ("hotels.updates", 0, 1)
    (offset,) = document["offsets"]
    (record,) = records(kafka, "hotels.updates", offset)
    assert record == (b"h1", orjson.dumps(FIELDS), 1_700_000_000_123)


def test_many_updates_of_every_kind_in_order(service: Service, kafka: KafkaSettings) -> None:
    updates = [
        {"key": "a", "value": FIELDS, "at": "2026-11-18T06:41:00Z"},
        {"key": "a", "value": {"$op": "add", "price": -1}},
        {"key": "a", "value": None},
        {"key": "$tick", "value": None},
        {"key": "$tick"},
        {"key": 17, "value": {**FIELDS, "price": "Infinity", "valid_until": 1}, "at": None},
    ]
    answer = service.post("hotels", updates).json()
    assert answer["written"] == len(updates)
    assert answer["offsets"] == list(range(answer["offsets"][0], answer["offsets"][0] + len(updates)))
    written = records(kafka, "hotels.updates", answer["offsets"][0])
    assert objects(written) == [
        ("a", FIELDS), ("a", {"$op": "add", "price": -1}), ("a", None), ("$tick", None), ("$tick", None),
        ("17", {**FIELDS, "price": "Infinity", "valid_until": 1}),
    ]  # fmt: skip
    assert written[0][2] == 1_794_984_060_000
    assert len({at for _, _, at in written[1:]}) == 1  # the time of the request


def test_lines(service: Service, kafka: KafkaSettings) -> None:
    body = b'{"key":"a","value":null}\n\n{"key":\n[]\r\n{"key":"b","value":null}'
    answer = service.post("hotels", body, headers=LINES)
    assert answer.status_code == 207
    document = answer.json()
    assert document["written"] == 2
    assert [offset is None for offset in document["offsets"]] == [False, True, True, False]
    assert [(e["index"], e["line"], e["reason"]) for e in document["errors"]] == [
        (1, 3, "bad_json"), (2, 4, "not_an_object"),
    ]  # fmt: skip
    assert objects(records(kafka, "hotels.updates", document["offsets"][0])) == [("a", None), ("b", None)]


BAD: list[tuple[Any, str, str]] = [
    ({"key": "b", "value": {"price": 1, "rating": 2}}, "missing_field", "group field city is missing"),
    ({"key": "b", "value": {**FIELDS, "price": "cheap"}}, "bad_value", "price must be a number"),
    ({"key": "", "value": FIELDS}, "bad_key", "an update needs a key"),
    ({"value": FIELDS}, "bad_key", "an update needs a key"),
    ({"key": "$x", "value": FIELDS}, "bad_key", "reserved"),
    ({"key": "x" * 257, "value": FIELDS}, "bad_key", "257 bytes, at most 256"),
    ({"key": ["a"], "value": FIELDS}, "bad_key", "must be a string or an integer"),
    ({"key": True, "value": FIELDS}, "bad_key", "must be a string or an integer"),
    ({"key": "b"}, "missing_field", "value is missing"),
    ({"key": "b", "value": 5}, "not_an_object", "must be a JSON object, got 5"),
    ({"key": "b", "value": [FIELDS]}, "not_an_object", "must be a JSON object"),
    ({"key": "$tick", "value": FIELDS}, "bad_key", "a tick has a null value"),
    ({"key": "b", **FIELDS}, "bad_value", '"price" belongs inside value'),
    ({"key": "b", "value": {"$op": "divide", "price": 2}}, "bad_op", "$op must be one of add"),
    ({"key": "b", "value": {**FIELDS, "valid_from": 5, "valid_until": 5}}, "bad_interval", "is not before"),
    ({"key": "b", "value": FIELDS, "at": "soon"}, "bad_time", "not ISO 8601"),
    ({"key": "b", "value": FIELDS, "at": -1}, "bad_time", "not after 1970"),
    ({"key": "b", "value": FIELDS, "at": "2999-01-01"}, "bad_time", "ahead of the clock"),
    ("b", "not_an_object", "an update is an object"),
]


@pytest.mark.parametrize(("update", "reason", "detail"), BAD)
def test_what_breaks_the_rules_is_refused_alone(service: Service, update: Any, reason: str, detail: str) -> None:
    document = problem(service.post("hotels", update), 422, "refused")
    assert detail in document["detail"]
    assert [(error["index"], error["reason"]) for error in document["errors"]] == [(0, reason)]
    among = service.post("hotels", [{"key": "a", "value": FIELDS}, update])
    assert among.status_code == 207
    assert among.json()["written"] == 1
    assert among.json()["offsets"][1] is None
    (error,) = among.json()["errors"]
    assert (error["index"], error["reason"]) == (1, reason)
    assert detail in error["detail"]


def test_strict_writes_nothing_when_anything_is_refused(service: Service, kafka: KafkaSettings) -> None:
    before = len(records(kafka, "hotels.updates"))
    updates = [{"key": "a", "value": FIELDS}, {"key": "b", "value": {}}]
    document = problem(service.post("hotels", updates, params={"strict": "true"}), 422, "refused")
    assert document["detail"].startswith("1 of 2 updates are refused, the first: dimension price is missing")
    assert len(records(kafka, "hotels.updates")) == before
    assert service.post("hotels", updates[:1], params={"strict": "true"}).status_code == 200
    problem(service.post("hotels", updates, params={"strict": "perhaps"}), 400, "bad_request")


def test_deep_and_large_values_are_refused_not_fatal(service: Service) -> None:
    deep = b'{"key":"a","value":{"price":1,"rating":2,"city":"x","name":' + b"[" * 400 + b"]" * 400 + b"}}"
    assert problem(service.post("hotels", deep), 422, "refused")["errors"][0]["reason"] == "bad_value"
    problem(service.post("hotels", b"[" * 5000), 400, "bad_request")
    assert service.post("hotels", {"key": "a", "value": FIELDS}).status_code == 200


def test_nothing_to_write(service: Service) -> None:
    assert service.post("hotels", []).json() == {"topic": "hotels.updates", "partition": 0, "written": 0, "offsets": []}
    assert service.post("hotels", b"", headers=LINES).json()["written"] == 0
    problem(service.post("hotels", b""), 400, "bad_request")


@pytest.mark.parametrize(
    "body", [b"{", b"\xff", b'{"key": NaN}', b'{"key":"a","value":null}\n{"key":"b","value":null}']
)
def test_bodies_that_are_no_json(service: Service, body: bytes) -> None:
    detail = problem(service.post("hotels", body), 400, "bad_request")["detail"]
    assert detail.startswith("the body is not JSON: ")
    assert ("application/x-ndjson" in detail) == (b"\n{" in body)


@pytest.mark.parametrize("headers", [{"Content-Type": "text/csv"}, {"Content-Type": ""}, {"Content-Encoding": "gzip"}])
def test_media_types_that_are_not_taken(service: Service, headers: dict[str, str]) -> None:
    headers = {"Content-Type": "application/json; charset=utf-8", **headers}
    problem(service.post("hotels", b"{}", headers=headers), 415, "unsupported_media_type")


def test_limits_of_size(service: Service) -> None:
    tick = {"key": "$tick"}
    assert service.post("hotels", [tick] * MAX_BATCH).json()["written"] == MAX_BATCH
    document = problem(service.post("hotels", [tick] * (MAX_BATCH + 1)), 413, "too_large")
    assert document["limit"] == MAX_BATCH
    assert f"has {MAX_BATCH + 1} updates" in document["detail"]
    problem(service.post("hotels", b'{"key":"$tick"}\n' * (MAX_BATCH + 1), headers=LINES), 413, "too_large")
    body = b" " * MAX_BODY
    problem(service.post("hotels", body), 400, "bad_request")
    assert problem(service.post("hotels", body + b" "), 413, "too_large")["limit"] == MAX_BODY
    chunks = (b" " * 1000 for _ in range(MAX_BODY // 1000 + 1))
    headers = {"Content-Type": "application/json"}
    problem(service.client.post("/views/hotels/updates", content=chunks, headers=headers), 413, "too_large")


def test_addresses_that_are_not_there(service: Service) -> None:
    document = problem(service.post("nope", []), 404, "no_such_view")
    assert document["detail"] == "there is no view 'nope'; defined are: deals, hotels"
    assert "/views/VIEW/updates" in problem(service.client.get("/"), 404, "not_found")["detail"]
    answer = service.client.get("/views/hotels/updates")
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "POST"


def test_elements_of_windows_need_no_key(service: Service, kafka: KafkaSettings) -> None:
    elements = [{"value": {"price": 1, "volume": 2}}, {"key": None, "value": {"price": 1, "volume": 3}}]
    answer = service.post("deals", [*elements, {"key": "named", "value": {"price": 2, "volume": 2}}]).json()
    assert answer["written"] == 3
    written = records(kafka, "deals.updates", answer["offsets"][0])
    assert [key for key, _, _ in written] == [None, None, b"named"]
    problem(service.post("deals", {"value": None}), 422, "refused")


def test_every_request_gets_the_offsets_of_its_own_updates(service: Service, kafka: KafkaSettings) -> None:
    def send(sender: int) -> list[tuple[int, str]]:
        got: list[tuple[int, str]] = []
        for number in range(5):
            keys = [f"{sender}-{number}-{place}" for place in range(20)]
            answer = service.post("hotels", [{"key": key, "value": FIELDS} for key in keys]).json()
            assert answer["offsets"] == sorted(answer["offsets"])
            got += zip(answer["offsets"], keys, strict=True)
        return got

    start = len(records(kafka, "hotels.updates"))
    with ThreadPoolExecutor(8) as pool:
        told = dict(pair for pairs in pool.map(send, range(8)) for pair in pairs)
    written = {start + place: key for place, (key, _) in enumerate(objects(records(kafka, "hotels.updates", start)))}
    assert told == written
    assert len(written) == 8 * 5 * 20


def test_probes_and_metrics(service: Service) -> None:
    for address in ("/healthz", "/readyz"):
        assert service.client.get(address).text == "ok\n"
    counts = [
        'skyline_ingest_sent_total{source="http",view="hotels"}',
        'skyline_ingest_refused_total{reason="missing_field",source="http",view="hotels"}',
        'skyline_ingest_requests_total{status="207",view="hotels"}',
        'skyline_ingest_request_seconds_count{view="hotels"}',
    ]
    before = [service.metric(line) for line in counts]
    service.post("hotels", [{"key": "a", "value": FIELDS}, {"key": "b", "value": FIELDS}, {"key": "c", "value": {}}])
    assert [service.metric(line) - was for line, was in zip(counts, before, strict=True)] == [2, 1, 1, 1]
    assert service.metric("skyline_ingest_in_flight") == 0
    service.post("stranger", [])
    assert "stranger" not in service.client.get("/metrics").text


def test_a_client_that_leaves_within_the_body_harms_nobody(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as rude:
        rude.sendall(
            b"POST /views/hotels/updates HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000\r\n\r\n[{"
        )
    assert service.post("hotels", {"key": "$tick"}).status_code == 200
    assert "Traceback" not in service.source.text


def test_the_description_has_examples_that_work(service: Service) -> None:
    document = service.client.get("/openapi.json").json()
    operation = document["paths"]["/views/{view}/updates"]["post"]
    assert set(operation["responses"]) >= {"200", "207", "400", "404", "408", "413", "415", "422", "429", "503"}
    examples = operation["requestBody"]["content"]["application/json"]["examples"]
    assert {name.partition(":")[0] for name in examples} == {"hotels", "deals"}
    for name, example in examples.items():
        assert service.post(name.partition(":")[0], example["value"]).status_code == 200, name
    lines = operation["requestBody"]["content"]["application/x-ndjson"]["examples"]["lines"]["value"]
    assert service.post("hotels", lines.encode(), headers=LINES).status_code == 200
