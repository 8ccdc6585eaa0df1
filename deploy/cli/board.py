"""What the demo draws: the members by group, which of them just changed, and the last changes in words."""

from __future__ import annotations

from collections import deque
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from deploy.cli.tables import member_table
from deploy.cli.words import SIGNS, STYLES, in_words
from skyline.view import View
from skyline.wire.changes import ChangeRecord, read_change
from skyline.wire.records import Records

_WORDS: Final = 6
"""Changes that are told in words, where the terminal is high enough."""
_FRESH_SECONDS: Final = 1.0
"""For so long a change shows in the table."""
_RATE_SECONDS: Final = 5.0
_FRAME: Final = 9
"""Lines that are neither rows nor words: what was said before, title, header, rules, caption, hint."""


class Board:
    """Follows V.changes: the members are what entered and has not left."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.members: dict[str, ChangeRecord] = {}
        self._changed: dict[str, tuple[str, float]] = {}
        self._last: deque[ChangeRecord] = deque(maxlen=_WORDS)
        self._seen: deque[tuple[float, int]] = deque([(0.0, 0)])

    def take(self, records: Records, now: float) -> None:
        """Applies records of V.changes that came at the time `now`, in seconds."""
        for row in range(len(records)):
            change = read_change(records.value(row) or b"")
            self._last.append(change)
            if change.op == "leave":
                self.members.pop(change.key, None)
            else:
                self.members[change.key] = change
                self._changed[change.key] = (change.op, now)
        if self._last:
            self._seen.append((now, self._last[-1].offset + 1))
        while len(self._seen) > 2 and self._seen[1][0] < now - _RATE_SECONDS:
            self._seen.popleft()

    def title(self) -> str:
        """Such as "spot: 46 members, 12,131 changes by 19,204 updates, 310 a second"."""
        seq, (then, before), (now, updates) = self._last[-1].seq if self._last else 0, self._seen[0], self._seen[-1]
        rate = f", {(updates - before) / (now - then):,.0f} a second" if before and now > then else ""
        return f"{self._view.name}: {len(self.members)} members, {seq:,} changes by {updates:,} updates{rate}"

    def draw(self, width: int, height: int, now: float, hint: str = "") -> RenderableType:
        """The whole picture, for a terminal of this size at this time."""
        words = min(_WORDS, max(2, height // 6))
        fresh = {key: STYLES[op] for key, (op, at) in self._changed.items() if now - at < _FRESH_SECONDS}
        self._changed = {key: self._changed[key] for key in fresh}
        table = member_table(
            self._view,
            self.members.values(),
            limit=max(1, height - words - _FRAME),
            width=width,
            styles=fresh,
        )
        lines = [_line(change) for change in list(self._last)[-words:]]
        return Group(Text(self.title(), style="bold"), table, *lines, Text(hint, style="dim"))


def _line(change: ChangeRecord) -> Text:
    text = f"{SIGNS[change.op]} {in_words(change)}"
    return Text(text, style=STYLES[change.op], no_wrap=True, overflow="ellipsis")
