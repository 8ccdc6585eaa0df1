"""Print the members of a view as they are now."""

from __future__ import annotations

import argparse

import orjson

from deploy.cli.console import Terminal
from deploy.cli.reading import current_members
from deploy.cli.tables import member_table
from deploy.cli.target import add_target_arguments, target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def run(arguments: argparse.Namespace) -> int:
    view, kafka = target(arguments)
    members = current_members(kafka, view)
    if arguments.json:
        for key in sorted(members):
            print(orjson.dumps(members[key]).decode())
        return 0
    terminal = Terminal()
    terminal.print(f"{view.name}: {len(members)} members", style="bold", soft_wrap=True)
    terminal.print(member_table(view, members.values(), width=terminal.width))
    return 0
