"""The terminal that commands print to."""

from __future__ import annotations

import os
import sys

from rich.console import Console


class Terminal(Console):
    """Ends the command in silence when nobody reads on, as `skyline watch spot | head` does."""

    def __init__(self) -> None:
        super().__init__(highlight=False)

    def on_broken_pipe(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0)
