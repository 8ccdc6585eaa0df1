"""What a newcomer meets: help, wrong words, no broker."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from ingest.__main__ import SOURCES, main
from skyline.errors import InvalidInput
from skyline.runtime import topics
from skyline.runtime.topics import KafkaUnreachable
from tests.ingest.harness import HOTELS, Source, eventually, views_file

NOWHERE = "127.0.0.1:1"


def test_without_a_source_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 1
    told = capsys.readouterr().err
    for source, (_, meaning) in SOURCES.items():
        assert re.search(rf"^  {source} +{re.escape(meaning)}$", told, re.MULTILINE)
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == told
    assert main(["ftp"]) == 1
    assert capsys.readouterr().err == "error: there is no source 'ftp'\n" + told


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_has_help_that_names_flags_variables_and_defaults(
    source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([source, "--help"])
    assert end.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    assert told.startswith(f"usage: python -m ingest {source} ")
    assert "--views VIEWS file that defines the views (SKYLINE_VIEWS; default views.toml)" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tick", "--intervall", "1"], "unrecognized arguments: --intervall 1"),
        (["generate", "--rate", "fast"], "--rate: 'fast' is not a number"),
        (["http", "--port", "web"], "--port: 'web' is not a whole number"),
        (["file"], "the following arguments are required: files"),
    ],
)
def test_wrong_flags_are_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"python -m ingest {words[0]}: error: {message}"


@pytest.mark.usefixtures("contained")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["file", "nope.csv"], "nope.csv cannot be read: No such file or directory"),
        (["file", "."], "the name does not tell the format"),
        (["file", "b.csv"], "b.csv cannot be read: Is a directory"),
        (["file", "a.csv", "--max-ahead", "soon"], "a duration is a positive number"),
        (["http", "--max-batch", "0"], "--max-batch must be more than 0, got 0"),
        (["http", "--max-in-flight", "10"], "--max-in-flight must lie between --max-batch"),
        (["http", "--max-in-flight", "1000000"], "--max-in-flight must lie between --max-batch"),
        (["http", "--max-held", "10"], "--max-held 10 is less than one body"),
        (["http", "--port", "99999"], "--port must be a port, 0 to 65535, got 99999"),
        (
            ["http", "--host", "203.0.113.9", "--port", "0"],
            "cannot listen on 203.0.113.9:0: .*; choose another with --host and --port",
        ),
        (["http", "--view", "nope"], "there is no view 'nope'; defined are: hotels"),
        (["generate", "--views", "nope.toml"], "nope.toml does not exist"),
        (["tick", "--kafka", "nonsense=1"], "no Kafka client can be made with these settings: .*nonsense"),
        (["tick", "--kafka", "nonsense"], "--kafka takes NAME=VALUE"),
        (["tick", "--log-level", "LOUD"], "--log-level must be one of DEBUG"),
    ],
)
def test_mistakes_are_named(words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    views_file(tmp_path, hotels=HOTELS)
    (tmp_path / "a.csv").write_text("key,price,rating,city\n")
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(InvalidInput, match=message):
        main([*words, "--bootstrap", NOWHERE])


@pytest.mark.usefixtures("contained")
@pytest.mark.parametrize("words", [["tick"], ["http", "--port", "0"], ["file", "a.csv"]])
def test_a_broker_that_is_away(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(topics, "TIMEOUT", 0.5)
    views_file(tmp_path, hotels=HOTELS)
    (tmp_path / "a.csv").write_text("key,price,rating,city\n")
    with pytest.raises(KafkaUnreachable, match=f"no broker answers at {NOWHERE}: "):
        main([*words, "--bootstrap", NOWHERE])
    assert "%3|" not in capfd.readouterr().err  # librdkafka says the same twenty times a second, if it may


def test_waiting_for_a_broker_is_told_and_can_be_ended(tmp_path: Path) -> None:
    views = views_file(tmp_path, hotels=HOTELS)
    source = Source(tmp_path, "tick", "--bootstrap", NOWHERE, "--views", str(views))
    eventually(lambda: f"waiting for a broker at {NOWHERE}" in source.text, "a word about it")
    source.process.send_signal(signal.SIGINT)
    assert source.end(20) == 1
    assert source.text.endswith("error: interrupted before a broker answered; nothing was sent\n")
