"""`skyline COMMAND`: the local broker, the local stack, and ways to look at a view."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from skyline.errors import SkylineError
from skyline.runtime.process import run

COMMANDS: Final = {
    "up": "Run Kafka and every service on this machine until Ctrl-C.",
    "demo": "Run the spot market on a fresh local Kafka and show its skyline; with --seconds, check it and end.",
    "watch": "Print the changes of a view as they happen, in words.",
    "members": "Print the members of a view as they are now.",
    "put": "Publish one update, and say where it went.",
    "topics": "Create the topics of every view with the right settings, and check those that are there.",
    "restore": "Send the archived updates of a view to its empty topic again, byte for byte and in their order.",
    "kafka": "Start, stop or look at a local Kafka broker.",
}
"""Each is a module of this package that says the same; only the one that was asked for is imported."""


def main(argv: Sequence[str]) -> int:
    chosen = argv[0] if argv and argv[0] in COMMANDS else None
    module = import_module(f"deploy.cli.{chosen}") if chosen else None
    parser = argparse.ArgumentParser(prog="skyline", description="Continuous skyline views over Kafka.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {name: commands.add_parser(name, help=text, description=text) for name, text in COMMANDS.items()}
    if chosen is None or module is None:
        parser.parse_args(argv)  # shows the help, or says what is wrong
        return 0
    module.add_arguments(parsers[chosen])
    # flags may stand among the words: skyline put spot h7 --op add price=-1
    return _run(module.run, parsers[chosen].parse_intermixed_args(argv[1:]))


def _run(command: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    try:
        code = command(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # `skyline members --json spot | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:
            raise
        raise SkylineError(f"{error.filename}: {error.strerror}") from error  # no space, no permission, no such file


def entry() -> None:
    run(main)


if __name__ == "__main__":
    entry()
