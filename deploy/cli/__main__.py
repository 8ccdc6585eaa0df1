"""`skyline COMMAND`: the local broker, the local stack, and three ways to look at a view."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from deploy.cli import demo, kafka, members, put, up, watch
from skyline.runtime.process import run

_COMMANDS = {"up": up, "demo": demo, "watch": watch, "members": members, "put": put, "kafka": kafka}


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="skyline", description="Continuous skyline views over Kafka.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in _COMMANDS.items():
        summary = (module.__doc__ or "").splitlines()[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
    arguments = parser.parse_args(argv)
    return int(_COMMANDS[arguments.command].run(arguments))


def entry() -> None:
    run(main)


if __name__ == "__main__":
    entry()
