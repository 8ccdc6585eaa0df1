"""Which state of the log an answer speaks for."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

NO_CLOCK: Final = -(2**63)
"""What the engine's clock shows before any update."""


class Stamp(NamedTuple):
    """Every answer carries these three.

    offset  of the last update of V.updates that is in; -1 before any
    clock   the view's event time there, in milliseconds
    seq     number of the last change of V.changes up to there
    """

    offset: int
    clock: int
    seq: int

    def fields(self) -> dict[str, Any]:
        """As an answer shows it; a clock that has not started is null."""
        return {"offset": self.offset, "clock": None if self.clock == NO_CLOCK else self.clock, "seq": self.seq}
