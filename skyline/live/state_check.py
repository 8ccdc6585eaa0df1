"""Whether a state can be one that `Skyline.dump` gave. Kernels follow its numbers without looking where they lead."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from skyline.errors import InvalidInput
from skyline.live.engine import State
from skyline.live.objects import ABSENT, MEMBER


def check_state(state: State) -> None:
    """Refuses a state in which something is missing, of another shape, or out of range. O(size).

    What it says about dominance is not looked at here; the forest notices when it attaches the objects.
    """
    try:
        _check(state)
    except KeyError as error:
        raise InvalidInput(f"this is not the state of a skyline: it has no {error}") from None
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InvalidInput(f"the state is damaged: {error}") from None


def _check(state: State) -> None:
    dimensions = json.loads(str(state["dimensions"]))
    slots, kind = int(state["slots"]), str(state["kind"])
    _expect(kind in ("", "int", "str", "bytes"), f"keys of kind {kind!r}")
    _expect(isinstance(json.loads(str(state["options"])), dict), "options that are no table")
    int(state["clock"])
    status = _column(state, "status", "iu", slots)
    group = _column(state, "group", "iu", slots)
    points = _column(state, "points", "f", slots, len(dimensions))
    _column(state, "interval", "iu", slots, 2)
    _expect(bool(((status >= ABSENT) & (status <= MEMBER)).all()), "a status that there is not")
    known = status != ABSENT
    _expect(not np.isnan(points[known]).any(), "a point that is not a number")
    _check_groups(state, group, known)
    if kind:
        _check_keys(state, kind, slots, np.flatnonzero(~known))
    else:
        _expect(not slots, "objects without keys")


def _check_groups(state: State, group: Any, known: Any) -> None:
    labels, free = json.loads(np.asarray(state["groups"]).tobytes())
    ids = np.ones(len(labels), np.bool_)
    ids[np.asarray(free, np.int64)] = False
    _expect(labels[0] is None and bool(ids[0]), "a first group that is not None")
    _expect(bool(((group >= 0) & (group < len(ids))).all()), "a group that there is not")
    _expect(bool(ids[group[known]].all()), "a group without a label")


def _check_keys(state: State, kind: str, slots: int, absent: Any) -> None:
    free = np.asarray(state["free_slots"])
    _expect(np.array_equal(np.sort(free), absent), "free slots that are not those without an object")
    if kind == "int":
        _column(state, "keys", "iu", slots)
        return
    arena = np.asarray(state["keys"])
    _expect(arena.ndim == 1 and arena.dtype == np.uint8, "keys that are no bytes")
    starts = _column(state, "key_starts", "iu", slots)
    lengths = _column(state, "key_lengths", "iu", slots)
    taken = np.ones(slots, np.bool_)
    taken[absent] = False
    starts, lengths = starts[taken], lengths[taken].astype(np.int64)
    inside = (starts >= 0) & (lengths >= 0) & (starts <= len(arena) - lengths)
    _expect(bool(inside.all()), "a key that lies outside of the keys' bytes")


def _column(state: State, name: str, kinds: str, *shape: int) -> Any:
    array = np.asarray(state[name])
    _expect(array.dtype.kind in kinds, f"{name} of type {array.dtype}")
    _expect(array.shape == shape, f"{name} of shape {array.shape} instead of {shape}")
    return array


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
