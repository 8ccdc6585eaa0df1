"""`python -m ingest file` on a real broker: what is sent, refused and told, and where the next run goes on."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from ingest.files.main import ALL_SENT, SOME_REFUSED, main
from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings
from tests.ingest.harness import HOTELS, SLOWLY, Source, eventually, objects, records, views_file

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("contained")]
HEADER = "key,price,rating,city\n"


class Setting:
    """A view, a file to send, and the command line that does it."""

    def __init__(self, kafka: KafkaSettings, unique: str, directory: Path) -> None:
        self.kafka, self.topic, self.directory = kafka, f"{unique}.updates", directory
        self.file = directory / "hotels.csv"
        views = views_file(directory, **{unique: HOTELS})
        self.common = ["--bootstrap", kafka.bootstrap, "--views", str(views), "--state", str(directory / "state")]

    def send(self, *more: str) -> int:
        return main([*self.common, str(self.file), *more])

    def keys(self) -> list[str | None]:
        return [key for key, _ in objects(records(self.kafka, self.topic))]


@pytest.fixture
def setting(kafka: KafkaSettings, unique: str, tmp_path: Path) -> Setting:
    return Setting(kafka, unique, tmp_path)


def test_rows_become_updates(setting: Setting, capsys: pytest.CaptureFixture[str]) -> None:
    setting.file.write_text("key,price,rating,city,when\na,1,2,Rome,1700000000000\nb,3,4,Paris,1700000000005\n")
    assert setting.send("--time", "when") == ALL_SENT
    assert records(setting.kafka, setting.topic) == [
        (b"a", b'{"price":1,"rating":2,"city":"Rome"}', 1_700_000_000_000),
        (b"b", b'{"price":3,"rating":4,"city":"Paris"}', 1_700_000_000_005),
    ]
    assert f"sent 2 updates to {setting.topic} in " in capsys.readouterr().out


def test_refused_rows_are_told_by_line_counted_and_kept(
    setting: Setting, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    setting.file.write_text(HEADER + "a,1,2,Rome\nb,much,2,Rome\nc,1,2\n$d,1,2,Rome\ne,1,2,Rome\n")
    rejects = tmp_path / "rejects.jsonl"
    assert setting.send("--rejects", str(rejects)) == SOME_REFUSED
    assert setting.keys() == ["a", "e"]
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        f'{setting.file}:3: bad_value: price must be a number, "Infinity" or "-Infinity", got "much"',
        f"{setting.file}:4: bad_row: the row has 3 cells, the header has 4",
        f'{setting.file}:5: bad_key: keys that start with $ are reserved, got "$d"',
    ]
    assert "sent 2 updates" in told.out
    assert "refused 3: bad_value 1, bad_row 1, bad_key 1" in told.out
    kept = [orjson.loads(line) for line in rejects.read_bytes().splitlines()]
    assert [(row["line"], row["reason"], row["key"]) for row in kept] == [
        (3, "bad_value", "b"), (4, "bad_row", "c"), (5, "bad_key", "$d"),
    ]  # fmt: skip


def test_many_refused_rows_are_not_all_shown(setting: Setting, capsys: pytest.CaptureFixture[str]) -> None:
    setting.file.write_text(HEADER + "a,x,2,Rome\n" * 50)
    assert setting.send() == SOME_REFUSED
    told = capsys.readouterr()
    assert len(told.err.splitlines()) == 21
    assert told.err.endswith("more refused rows are counted below, --rejects FILE writes them all\n")
    assert "refused 50: bad_value 50" in told.out


def test_a_second_run_sends_nothing_and_a_grown_file_its_new_rows(setting: Setting) -> None:
    setting.file.write_text(HEADER + "a,1,2,Rome\nb,x,2,Rome\n")
    assert setting.send() == SOME_REFUSED
    assert setting.send() == ALL_SENT
    assert setting.keys() == ["a"]
    with setting.file.open("a") as file:
        file.write("c,1,2,Rome\n")
    assert setting.send() == ALL_SENT
    assert setting.keys() == ["a", "c"]
    assert setting.send("--restart") == SOME_REFUSED
    assert setting.keys() == ["a", "c", "a", "c"]


def test_another_file_of_that_name_is_noticed(setting: Setting) -> None:
    setting.file.write_text(HEADER + "a,1,2,Rome\n")
    setting.send()
    setting.file.write_text(HEADER + "z,1,2,Rome\n")
    with pytest.raises(InvalidInput, match="it begins differently; --restart sends it from its first row"):
        setting.send()


def test_other_columns_are_noticed(setting: Setting) -> None:
    setting.file.write_text(HEADER + "a,1,2,Rome\n")
    setting.send()
    with pytest.raises(InvalidInput, match="with other columns"):
        setting.send("--map", "price=rating")


def test_damaged_progress_is_noticed(setting: Setting, tmp_path: Path) -> None:
    setting.file.write_text(HEADER + "a,1,2,Rome\n")
    setting.send()
    (saved,) = (tmp_path / "state").glob("*.json")
    saved.write_text("{")
    with pytest.raises(InvalidInput, match="is damaged"):
        setting.send()
    assert setting.send("--restart") == ALL_SENT


def test_a_topic_that_was_created_anew_is_noticed(setting: Setting, tmp_path: Path) -> None:
    setting.file.write_text(HEADER + "a,1,2,Rome\n")
    setting.send()
    (saved,) = (tmp_path / "state").glob("*.json")
    progress = orjson.loads(saved.read_bytes())
    assert (progress["rows"], progress["offset"]) == (1, 1)
    saved.write_bytes(orjson.dumps(progress | {"offset": 99}))
    with pytest.raises(InvalidInput, match="the topic was created anew; --restart"):
        setting.send()


def test_a_mistake_in_the_last_file_shows_before_the_first_is_sent(setting: Setting, tmp_path: Path) -> None:
    setting.file.write_text(HEADER + "a,1,2,Rome\n")
    other = tmp_path / "other.csv"
    other.write_text("id,price\n")
    with pytest.raises(InvalidInput, match="no column 'key'"):
        setting.send(str(other))
    other.write_text(HEADER + "b,1,2,Rome\n")
    assert setting.send(str(other)) == ALL_SENT
    assert setting.keys() == ["a", "b"]


def test_event_times_far_ahead_are_refused(setting: Setting, capsys: pytest.CaptureFixture[str]) -> None:
    setting.file.write_text("key,price,rating,city,when\na,1,2,x,2999-01-01\nb,1,2,x,0\nc,1,2,x,2020-01-01\n")
    assert setting.send("--time", "when") == SOME_REFUSED
    assert setting.keys() == ["c"]
    told = capsys.readouterr().err
    assert "the view's clock would jump there and never come back" in told
    assert "is not after 1970" in told


def test_a_signal_ends_a_run_in_good_order_and_the_next_goes_on(setting: Setting, tmp_path: Path) -> None:
    rows = 60_000
    setting.file.write_text(HEADER + "".join(f"k{i},{i},2,Rome\n" for i in range(rows)))
    source = Source(tmp_path, "file", *setting.common, str(setting.file), *SLOWLY)
    state = tmp_path / "state"
    eventually(lambda: any(b'"rows": 0' not in saved.read_bytes() for saved in state.glob("*.json")), "progress")
    assert source.stop() == 1, source.text
    assert "interrupted, run it again to go on" in source.text
    assert 0 < len(setting.keys()) < rows
    assert setting.send() == ALL_SENT
    assert setting.keys() == [f"k{i}" for i in range(rows)]
