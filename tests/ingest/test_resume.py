"""SIGKILL at any moment: the next run sends what is missing, and nothing twice."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import orjson
import pytest
from confluent_kafka import Producer

from ingest.batch import Batch
from ingest.check import Checker
from ingest.files.main import ALL_SENT, main
from ingest.files.progress import ProgressFile
from ingest.files.reader import Reader
from ingest.files.report import Report
from ingest.files.run import FileRun
from ingest.files.tail import Tail, ends_of, written_since
from ingest.publisher import Publisher
from ingest.startup import new_metrics
from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings
from skyline.runtime.topics import ensure_topics
from tests.ingest.harness import HOTELS, SLOWLY, Source, eventually, records, view_of, views_file
from tests.maintainer.harness import publish

ROWS = 60_000


def test_rows_that_stand_in_the_topic_are_not_sent_again() -> None:
    written = [(5, (b"a", b"1", 1)), (6, (b"z", b"9", 1)), (7, (b"b", b"2", 2)), (8, (b"z", b"9", 1))]  # z: another's
    tail = Tail(iter(written), compare_time=True)
    assert list(tail.without_written(Batch([b"a"], [b"1"], [1])).keys) == []
    assert tail.past == 6
    assert list(tail.without_written(Batch([b"b", b"c"], [b"2", b"3"], [2, 3])).keys) == [b"c"]
    assert list(tail.without_written(Batch([b"d"], [b"4"], [4])).keys) == [b"d"]
    assert (tail.found, tail.past) == (2, 8)


@pytest.mark.parametrize(("compare_time", "left"), [(True, 1), (False, 0)])
def test_times_are_compared_where_rows_have_them(compare_time: bool, left: int) -> None:
    tail = Tail(iter([(0, (b"a", b"1", 1))]), compare_time)
    assert len(tail.without_written(Batch([b"a"], [b"1"], [7]))) == left


@pytest.mark.kafka
def test_the_end_of_a_topic_is_read_from_an_offset_on(kafka: KafkaSettings, unique: str) -> None:
    ensure_topics(kafka, view_of(unique), ("updates",))
    topic = f"{unique}.updates"
    assert list(written_since(kafka, topic, 0)) == []
    rows = [(f"k{i}".encode(), b"{}", 1_700_000_000_000 + i) for i in range(10)]
    publish(kafka, topic, rows)
    assert list(written_since(kafka, topic, 4)) == list(enumerate(rows))[4:]
    assert list(written_since(kafka, topic, 10)) == []
    producer = Producer(kafka.client(transactional_id=unique))
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, b"{}", b"other", timestamp=1)
    producer.commit_transaction(60)
    # the last offset is the transaction's marker, which nobody is ever given
    eventually(lambda: ends_of(kafka, topic)[1] == 12, "the transaction is over")
    assert list(written_since(kafka, topic, 9)) == [(9, rows[9]), (10, (b"other", b"{}", 1))]
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


class Stub:
    """A file of three rows, the last of which is like the first, in two batches."""

    path = Path("f.csv")

    def batches(self, skip: int) -> Iterator[Batch]:
        rows = [b"a", b"b", b"a"]
        for part in (slice(skip, 2), slice(max(skip, 2), 3)):
            keys = rows[part]
            if keys:
                yield Batch(keys, [VALUE] * len(keys), [1_700_000_000_000] * len(keys), [1] * len(keys))


VALUE = b'{"price":1,"rating":2,"city":"x"}'


@pytest.mark.kafka
def test_a_row_like_one_that_was_found_in_the_topic_is_still_sent(
    kafka: KafkaSettings, unique: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first two rows were written by a run that was killed, found by one that was interrupted at once."""
    monkeypatch.chdir(tmp_path)
    Stub.path.write_text("")
    view = view_of(unique)
    topic = view.topic("updates")
    ensure_topics(kafka, view, ("updates",))
    publish(kafka, topic, [(key, VALUE, 1_700_000_000_000) for key in (b"a", b"b")])
    progress = ProgressFile(tmp_path, Stub.path, topic, "")

    def send(rows: int, offset: int, interrupted: bool) -> bool:
        stop = threading.Event()
        with closing(written_since(kafka, topic, offset)) as written:
            run = FileRun(
                cast(Reader, Stub()), topic, Checker(view), Publisher(kafka, 30.0, stop),
                Report(view.name, new_metrics()), progress, Tail(written, compare_time=True), stop,
            )  # fmt: skip
            return run.send(rows, offset, lambda _: stop.set() if interrupted else None)

    assert not send(0, 0, interrupted=True)
    saved = progress.load()
    assert saved is not None
    assert (saved.rows, saved.offset) == (2, 2)
    assert send(saved.rows, saved.offset, interrupted=False)
    assert [key for key, _, _ in records(kafka, topic)] == [b"a", b"b", b"a"]


@pytest.mark.kafka
@pytest.mark.usefixtures("contained")
def test_two_runs_do_not_send_the_same_file_at_once(kafka: KafkaSettings, unique: str, tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("key,price,rating,city\na,1,2,Rome\n")
    views = views_file(tmp_path, **{unique: HOTELS})
    command = ["--bootstrap", kafka.bootstrap, "--views", str(views), "--state", str(tmp_path / "state"), str(file)]
    with (
        ProgressFile(tmp_path / "state", file, f"{unique}.updates", "").held(),
        pytest.raises(InvalidInput, match=rf"f\.csv is being sent to {unique}\.updates by another run"),
    ):
        main(command)
    assert main(command) == ALL_SENT
    assert len(records(kafka, f"{unique}.updates")) == 1
