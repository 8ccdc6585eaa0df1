"""The state of a view, of whichever kind: what recovery and the runner need of it."""

from __future__ import annotations

from typing import Any, Protocol

from maintainer.keyed import KeyedState
from maintainer.output import Output
from maintainer.windowed import WindowState
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
    """Compiles, or loads from the cache, every kernel that the view needs: before it is taken over, not after."""
    decoder, state = UpdateDecoder(view), new_state(view)
    state.apply(decoder.decode(Records.of([(b"$tick", None, 0, 0), (b"warm", None, 1, 1)])))
    fields = dict.fromkeys((*view.dimensions.names, *view.group_by), 0)
    state.apply(decoder.decode(Records.of([(b"warm", write_update(fields), 1, 2), (b"warm", None, 2, 3)])))
    load_state(view, state.dump())


def load_state(view: View, state: dict[str, Any]) -> ViewState:
    return KeyedState.load(view, state) if view.window is None else WindowState.load(view, state)
