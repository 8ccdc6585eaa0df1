"""What the demo draws, for terminals of any size."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from deploy.cli.board import Board
from skyline.view import views_of
from skyline.wire.changes import ChangeWriter
from skyline.wire.records import Records

VIEW = views_of({"spot": {"dimensions": {"price": "min"}, "group_by": ["region"], "carry": ["zone"]}})["spot"]
WRITER = ChangeWriter(VIEW)


def _changes(*changes: tuple[str, str, float, str], first: int = 1) -> Records:
    """(op, key, price, region) as records of V.changes; each is caused by an update of its own."""
    rows: list[Any] = []
    for seq, (op, key, price, region) in enumerate(changes, start=first):
        reason = {"enter": "inserted", "move": "moved", "leave": "deleted"}[op]
        extras = b',"group":{"region":"%b"},"carry":{"zone":"z"}' % region.encode()
        value = WRITER.change(seq, op, key, [price], extras, reason, key, 1000, seq - 1, seq)
        rows.append((key.encode(), value, 1000, seq))
    return Records.of(rows)


def _drawn(board: Board, width: int = 120, height: int = 40, now: float = 0.0, colour: bool = False) -> list[str]:
    console = Console(width=width, height=height, force_terminal=colour, color_system="standard" if colour else None)
    with console.capture() as captured:
        console.print(board.draw(width, height, now, "the hint"))
    return captured.get().splitlines()


def test_members_are_those_that_entered_and_have_not_left() -> None:
    board = Board(VIEW)
    board.take(
        _changes(("enter", "a", 3, "eu"), ("enter", "b", 2, "eu"), ("move", "a", 1, "eu"), ("leave", "b", 2, "eu")), 0
    )
    assert {key: member.point for key, member in board.members.items()} == {"a": {"price": 1.0}}
    lines = _drawn(board)
    assert lines[0].strip() == "spot: 1 members, 4 changes by 4 updates"
    assert [line.split() for line in lines if line.startswith("  eu")] == [["eu", "a", "1", "z"]]
    assert [line for line in lines if line[:2] in ("+ ", "~ ", "- ")][-2:] == [
        "~ a moved (price 1), 3 members",
        "- b left: it was deleted (price 2), 4 members",
    ]
    assert lines[-1] == "the hint"


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 60), (60, 14)])
def test_it_fits_the_terminal_and_every_group_is_seen(width: int, height: int) -> None:
    board = Board(VIEW)
    many = [("enter", f"{region}-{i}", float(i), region) for region in ("eu", "us") for i in range(100)]
    board.take(_changes(*many, ("enter", "lone", 1.0, "ap")), 0)
    lines = _drawn(board, width, height)
    assert len(lines) <= height - 2  # two lines were printed before
    assert max(map(len, lines)) <= width
    shown = [line.split()[0] for line in lines if line.startswith(("  ap", "  eu", "  us"))]
    if height >= 24:
        assert shown.count("ap") == 1
        assert abs(shown.count("eu") - shown.count("us")) <= 1
    assert f"and {201 - len(shown)} more" in "\n".join(lines)


def test_what_changed_just_now_is_coloured() -> None:
    board = Board(VIEW)
    board.take(_changes(("enter", "old", 1, "eu")), 0.0)
    board.take(
        _changes(("enter", "new", 2, "eu"), ("enter", "moved", 3, "eu"), ("move", "moved", 4, "eu"), first=2), 5.0
    )
    old, new, moved = (line for line in _drawn(board, now=5.5, colour=True) if "eu" in line)
    green, yellow = "\x1b[32m", "\x1b[33m"
    assert [(green in row, yellow in row) for row in (old, new, moved)] == [
        (False, False),
        (True, False),
        (False, True),
    ]


def test_the_rate_is_that_of_the_last_seconds() -> None:
    board = Board(VIEW)
    for second in range(20):
        board.take(_changes(("move", "a", 1, "eu"), ("move", "a", 2, "eu"), first=1 + 2 * second), float(second))
    assert board.title().endswith("40 changes by 40 updates, 2 a second")


def test_numbers_are_never_cut() -> None:
    view = views_of(
        {"spot": {"dimensions": {"price": "min", "interruptions": "min", "vcpus": "max"}, "group_by": ["region"]}}
    )["spot"]
    board = Board(view)
    key, extras = "m7g.2xlarge@ap-south-a", b',"group":{"region":"ap-south"}'
    value = ChangeWriter(view).change(1, "enter", key, [0.0123, 13.75, 32], extras, "inserted", key, 1000, 0, 1)
    board.take(Records.of([(key.encode(), value, 1000, 0)]), 0)
    for width, words in [
        (60, ["ap-south", "m7g.2xlarg…", "0.0123", "13.75", "32"]),
        (80, ["ap-south", key, "0.0123", "13.75", "32"]),
    ]:
        lines = _drawn(board, width)
        assert max(map(len, lines)) <= width
        assert words in [line.split() for line in lines]
