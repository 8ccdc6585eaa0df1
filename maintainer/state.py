"""The state of a view, of whichever kind: what recovery and the runner need of it."""

from __future__ import annotations

from typing import Any, Final, Protocol

from maintainer.keyed import KeyedState
from maintainer.output import Output
from maintainer.windowed import WindowState
from skyline.runtime.drain import Drain
from skyline.view import View
from skyline.wire.decode import Decoded, UpdateDecoder
from skyline.wire.records import Records
from skyline.wire.updates import write_update


class ViewState(Protocol):
    """A deterministic function from updates to changes, held at one place of the log."""

    position: int
    """Offset after the last update that was applied."""
    seq: int
    """Number of the last change."""

    def apply(self, batch: Decoded) -> Output: ...

    def dump(self) -> dict[str, Any]: ...


def new_state(view: View) -> ViewState:
    return KeyedState(view) if view.window is None else WindowState(view)


def warm_up(view: View) -> None:
    """Compiles, or loads from the cache, every kernel that the view needs: before it is taken over, not after.

    So it does what a life does: insert, move, delete and expire enough objects that tables grow, and dump and load.
    """
    Drain.warm_up()
    decoder, state = UpdateDecoder(view), new_state(view)
    for start in range(0, len(_REHEARSAL), 100):
        rows = [_rehearsed(view, offset) for offset in _REHEARSAL[start : start + 100]]
        state.apply(decoder.decode(Records.of(rows)))
    load_state(view, state.dump()).apply(decoder.decode(Records.of([_rehearsed(view, len(_REHEARSAL))])))


_REHEARSAL: Final = range(300)


def _rehearsed(view: View, offset: int) -> tuple[bytes, bytes | None, int, int]:
    """One update of the rehearsal: objects come, move in and out of each other's way, expire and go."""
    key = b"rehearsal %d" % (offset * 7 % 120)
    fields: dict[str, Any] = {name: offset * (axis + 3) % 17 for axis, name in enumerate(view.dimensions.names)}
    fields |= dict.fromkeys(view.group_by, offset % 2)
    if offset % 5 == 0 and view.window is None:
        fields["valid_until"] = offset + 20
    return key, None if offset % 11 == 0 else write_update(fields), offset, offset


def load_state(view: View, state: dict[str, Any]) -> ViewState:
    return KeyedState.load(view, state) if view.window is None else WindowState.load(view, state)
