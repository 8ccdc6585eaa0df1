"""SIGKILL at any moment: the next run sends what is missing, and nothing twice."""

from __future__ import annotations

import random
from pathlib import Path

import orjson
import pytest
from confluent_kafka import Producer

from ingest.batch import Batch
from ingest.files.main import ALL_SENT, main
from ingest.files.tail import Tail, ends_of, written_since
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import ensure_topics
from tests.ingest.harness import HOTELS, SLOWLY, Source, eventually, records, view_of, views_file
from tests.maintainer.harness import publish

ROWS = 60_000


def test_rows_that_stand_in_the_topic_are_not_sent_again() -> None:
    written = [(b"a", b"1", 1), (b"z", b"9", 1), (b"b", b"2", 2)]  # z is another producer's
    tail = Tail(iter(written), compare_time=True)
    assert list(tail.without_written(Batch([b"a"], [b"1"], [1])).keys) == []
    assert list(tail.without_written(Batch([b"b", b"c"], [b"2", b"3"], [2, 3])).keys) == [b"c"]
    assert list(tail.without_written(Batch([b"d"], [b"4"], [4])).keys) == [b"d"]
    assert tail.found == 2


@pytest.mark.parametrize(("compare_time", "left"), [(True, 1), (False, 0)])
def test_times_are_compared_where_rows_have_them(compare_time: bool, left: int) -> None:
    tail = Tail(iter([(b"a", b"1", 1)]), compare_time)
    assert len(tail.without_written(Batch([b"a"], [b"1"], [7]))) == left


@pytest.mark.kafka
def test_the_end_of_a_topic_is_read_from_an_offset_on(kafka: KafkaSettings, unique: str) -> None:
    ensure_topics(kafka, view_of(unique), ("updates",))
    topic = f"{unique}.updates"
    assert list(written_since(kafka, topic, 0)) == []
    rows = [(f"k{i}".encode(), b"{}", 1_700_000_000_000 + i) for i in range(10)]
    publish(kafka, topic, rows)
    assert list(written_since(kafka, topic, 4)) == rows[4:]
    assert list(written_since(kafka, topic, 10)) == []
    producer = Producer(kafka.client(transactional_id=unique))
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, b"{}", b"other", timestamp=1)
    producer.commit_transaction(60)
    # the last offset is the transaction's marker, which nobody is ever given
    eventually(lambda: ends_of(kafka, topic)[1] == 12, "the transaction is over")
    assert list(written_since(kafka, topic, 9)) == [rows[9], (b"other", b"{}", 1)]
    assert list(written_since(kafka, topic, 11)) == []


@pytest.mark.kafka
@pytest.mark.usefixtures("contained")
@pytest.mark.parametrize(("timed", "kills"), [(True, 3), (False, 1)])
def test_no_row_is_lost_or_doubled_by_kills(
    timed: bool, kills: int, kafka: KafkaSettings, unique: str, tmp_path: Path
) -> None:
    """Kills at random moments, some long after progress was saved; other producers write in between."""
    rng = random.Random(5)
    file = tmp_path / "f.csv"
    lines = (f"k{i},{i % 1000},{i % 7},Rome,{1_700_000_000_000 + i}\n" for i in range(ROWS))
    file.write_text("key,price,rating,city,when\n" + "".join(lines))
    views = views_file(tmp_path, **{unique: HOTELS})
    command = ["--bootstrap", kafka.bootstrap, "--views", str(views), "--state", str(tmp_path / "state"), str(file)]
    command += ["--time", "when"] if timed else []
    topic = f"{unique}.updates"
    ensure_topics(kafka, view_of(unique), ("updates",))
    beyond = []
    for _ in range(kills):
        moment = ends_of(kafka, topic)[1] + rng.randrange(1000, ROWS // 4)
        source = Source(tmp_path, "file", *command, *SLOWLY)
        eventually(lambda moment=moment: ends_of(kafka, topic)[1] >= moment, "the moment to kill it")
        source.kill()
        publish(kafka, topic, [(b"other", b'{"price": 1, "rating": 1, "city": "x"}', 1_700_000_000_000)])
        (saved,) = (tmp_path / "state").glob("*.json")
        beyond.append(ends_of(kafka, topic)[1] - 1 - orjson.loads(saved.read_bytes())["offset"])
    assert main(command) == ALL_SENT
    written = [key for key, _, _ in records(kafka, topic) if key != b"other"]
    assert written == [f"k{i}".encode() for i in range(ROWS)]
    # the test means something: rows had been written beyond what was remembered
    assert max(beyond) > 100
