"""The terminal that commands print to."""

from __future__ import annotations

import os
import sys
from typing import Final

from rich.console import Console

_PIPE: Final = 1000


class Terminal(Console):
    """Ends the command in silence when nobody reads on, as `skyline watch spot | head` does.

    What goes to a file or to another program is not cut to the width of a terminal, unless COLUMNS says so.
    """

    def __init__(self) -> None:
        cut = sys.stdout.isatty() or os.environ.get("COLUMNS") or os.environ.get("FORCE_COLOR")
        super().__init__(highlight=False, width=None if cut else _PIPE)

    def on_broken_pipe(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0)
