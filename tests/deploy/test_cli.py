"""The commands that look at a view, on a real maintainer; and what they say when something is missing."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from deploy.cli.__main__ import COMMANDS, main
from deploy.cli.verify import verify
from deploy.local.broker import Broker
from deploy.local.place import local_place
from deploy.local.ports import free_port
from deploy.local.running import start_all
from deploy.local.services import services
from deploy.local.stack import Stack
from skyline.errors import SkylineError
from skyline.runtime.config import KafkaSettings, load_views
from tests.deploy.processes import end, skyline, wait_until

HOTELS = """\
[{name}]
dimensions = {{ price = "min", rating = "max" }}
group_by = ["city"]
carry = ["name"]
"""

Run = tuple[str, list[str]]


@pytest.fixture(scope="module")
def hotels(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A view with its maintainer: the view's name, and the flags that lead there."""
    home = tmp_path_factory.mktemp("cli")
    name = "hotels_of_the_cli"
    views = home / "views.toml"
    views.write_text(HOTELS.format(name=name))
    chosen = [service for service in services("core") if service.name == "maintainer"]
    stack = Stack(lambda _name, _line: None)
    try:
        start_all(stack, local_place(broker.address, views, home, chosen, any_port=True), chosen)
        flags = ["--views", str(views), "--bootstrap", broker.address]
        for key, price, rating in (("h1", 80, 4.1), ("h2", 70, 4.5), ("h3", 60, 3.0)):
            fields = [f"price={price}", f"rating={rating}", "city=Paris", "name=Au [b]Lit[/b]"]
            assert main(["put", *flags, name, key, *fields]) == 0
        assert main(["put", *flags, name, "h3", "--delete"]) == 0
        yield name, flags
    finally:
        stack.stop_all()


def _members(hotels: Run, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    name, flags = hotels
    capsys.readouterr()
    assert main(["members", "--json", *flags, name]) == 0
    return {row["key"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}


def test_watch_says_every_change_in_words(hotels: Run, capsys: pytest.CaptureFixture[str]) -> None:
    name, flags = hotels
    capsys.readouterr()
    assert main(["watch", "--from-start", "--count", "5", *flags, name]) == 0
    lines = [line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "+ h1 entered: new (price 80, rating 4.1), 1 members",
        "- h1 left: h2 dominates it (price 80, rating 4.1), 0 members",
        "+ h2 entered: new (price 70, rating 4.5), 1 members",
        "+ h3 entered: new (price 60, rating 3), 2 members",
        "- h3 left: it was deleted (price 60, rating 3), 1 members",
    ]


def test_members_are_a_table_and_json(hotels: Run, capsys: pytest.CaptureFixture[str]) -> None:
    name, flags = hotels
    wait_until(lambda: list(_members(hotels, capsys)) == ["h2"])
    assert _members(hotels, capsys)["h2"]["point"] == {"price": 70.0, "rating": 4.5}
    assert main(["members", *flags, name]) == 0
    table = capsys.readouterr().out
    assert f"{name}: 1 members" in table
    assert "price ↓" in table
    assert "rating ↑" in table
    row = next(line for line in table.splitlines() if "h2" in line)
    assert re.split(r" {2,}", row.strip()) == ["Paris", "h2", "70", "4.5", "Au [b]Lit[/b]"]


def test_what_is_published_agrees_with_the_definition(hotels: Run, capsys: pytest.CaptureFixture[str]) -> None:
    name, flags = hotels
    wait_until(lambda: list(_members(hotels, capsys)) == ["h2"])
    verdict = verify(KafkaSettings(flags[3]), load_views(Path(flags[1]))[name])
    assert (verdict.right, verdict.members, verdict.objects, verdict.updates) == (True, 1, 2, 4)


def test_a_terminal_is_told_what_is_waited_for(hotels: Run) -> None:
    name, flags = hotels
    running = skyline("watch", *flags, name, FORCE_COLOR="1", TERM="dumb")
    try:
        assert running.stdout is not None
        said = running.stdout.readline()
    finally:
        end(running)
    assert f"{name}.changes from now on; --from-start shows others; times are UTC; Ctrl-C ends it" in said


def test_a_reader_that_has_seen_enough_is_no_error(hotels: Run) -> None:
    name, flags = hotels
    running = skyline("watch", "--from-start", *flags, name)
    assert running.stdout is not None
    assert "h1 entered" in running.stdout.readline()
    running.stdout.close()
    assert main(["put", *flags, name, "h9", "price=1", "rating=1", "city=Rome"]) == 0
    try:
        assert running.wait(60) == 0
    finally:
        end(running)


def test_topics_are_made_and_listed(broker: Broker, unique: str, tmp_path: Path) -> None:
    views = tmp_path / "views.toml"
    views.write_text(HOTELS.format(name=unique))
    flags = ["--views", str(views), "--bootstrap", broker.address]
    for _ in range(2):  # the second time they are checked
        result = skyline("topics", *flags)
        output, _ = result.communicate(timeout=120)
        assert (result.returncode, output) == (
            0,
            f"{unique}: {unique}.updates, {unique}.changes, {unique}.skyline, {unique}.rejected\n",
        )
    with pytest.raises(SkylineError, match="no topic other"):
        main(["members", "--views", str(_views(tmp_path, "other")), "--bootstrap", broker.address, "other"])


def _views(home: Path, name: str) -> Path:
    path = home / f"{name}.toml"
    path.write_text(HOTELS.format(name=name))
    return path


def test_no_broker_is_one_line(tmp_path: Path) -> None:
    views, nobody = _views(tmp_path, "hotels"), f"127.0.0.1:{free_port()}"
    result = skyline("members", "--views", str(views), "--bootstrap", nobody, "hotels")
    output, _ = result.communicate(timeout=120)
    assert result.returncode == 1
    assert output == f"error: no broker answers at {nobody}: run `skyline up`, or name one with --bootstrap\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["members", "hotels", "--kafka", "nonsense=1"], 'no Kafka client can be made .*: .*"nonsense"'),
        (["watch", "hotels", "--kafka", "nonsense"], "--kafka takes NAME=VALUE"),
        (["kafka", "start", "--home", "/proc/nowhere"], "^/proc/nowhere: No such file or directory$"),
        (["up", "--views", "/proc"], "^/proc: Is a directory$"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    own = [] if words[0] in ("kafka", "up") else ["--views", str(_views(tmp_path, "hotels"))]
    with pytest.raises(SkylineError, match=message):
        main([*words, *own])


@pytest.mark.parametrize(
    "words",
    [
        ["kafka", "start", "--port", "99999"],
        ["up", "--port", "-1"],
        ["demo", "--seconds", "-3"],
        ["demo", "--seconds", "nan"],
        ["watch", "spot", "--count", "-1"],
    ],
)
def test_numbers_without_a_meaning_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main(words)
    assert f"argument {words[-2]}: {words[-1]} is no " in capsys.readouterr().err


@pytest.mark.parametrize("command", ["members", "watch"])
def test_an_unknown_view_lists_what_there_is(command: str, tmp_path: Path) -> None:
    with pytest.raises(SkylineError, match="there is no view 'hotel'; defined are: hotels"):
        main([command, "--views", str(_views(tmp_path, "hotels")), "hotel"])


def test_the_local_broker_is_found_without_a_flag(
    broker: Broker, hotels: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a directory where `skyline up` runs, no --bootstrap is needed."""
    name, flags = hotels
    (tmp_path / ".local").mkdir()
    (tmp_path / ".local" / "kafka").symlink_to(broker.home)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SKYLINE_BOOTSTRAP", raising=False)
    assert main(["members", *flags[:2], name]) == 0
    assert "h2" in capsys.readouterr().out


def test_every_command_is_listed_and_explains_itself() -> None:
    running = skyline("--help")
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    for word, summary in COMMANDS.items():
        assert f"    {word} " in output
        with pytest.raises(SystemExit, match=r"^0$"):
            main([word, "--help"])
        assert (import_module(f"deploy.cli.{word}").__doc__ or "").splitlines()[0] == summary


def test_ctrl_c_while_watching_is_no_error(hotels: Run) -> None:
    name, flags = hotels
    running = skyline("watch", "--from-start", *flags, name)
    assert running.stdout is not None
    assert "h1 entered" in running.stdout.readline()
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=30)
    assert running.returncode == 0
    assert "Traceback" not in output


def test_what_goes_to_a_pipe_is_not_cut(hotels: Run) -> None:
    name, flags = hotels
    key = "k" * 200
    assert main(["put", *flags, name, key, "price=5", "rating=5", "city=Oslo"]) == 0
    wait_until(lambda: key in _printed(name, *flags))
    assert main(["put", *flags, name, key, "--delete"]) == 0
    wait_until(lambda: key not in _printed(name, *flags))


def _printed(name: str, *flags: str) -> str:
    running = skyline("members", *flags, name, COLUMNS="")
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 0, output
    return output
