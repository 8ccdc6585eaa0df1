"""How many updates are applied at once."""

from __future__ import annotations

from typing import Final

from skyline.runtime.drain import MAX_BATCH

FIRST: Final = 64
"""Small, so that what no memory or transaction could hold in one piece gets through after a restart."""

MOST_RECORDS: Final = 200_000
"""To publish of one batch. Mostly an update changes less than one member, but where thousands of objects wait below one
that comes and goes, each of its updates changes them all."""


class Pace:
    """The size of the next batch, from what the last one made. How updates are batched shows nowhere."""

    def __init__(self) -> None:
        self.limit = FIRST

    def made(self, records: int) -> None:
        """The last batch asked for so many records to be published."""
        if records > MOST_RECORDS:
            self.limit = max(1, self.limit * MOST_RECORDS // records)
        else:
            self.limit = min(MAX_BATCH, 2 * self.limit)
