"""Group labels and the small integers that stand for them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np

from skyline.errors import InvalidInput
from skyline.view import Ints

NO_GROUP: Final = 0
"""Id of the label None, which every object without a group has."""

_SCALARS: Final = (str, int, float, bool, type(None))


class Groups:
    """A table of labels. Labels are what JSON has: text, numbers, booleans, None, and tuples of these.

    They are equal where Python says so: 1, 1.0 and True are one group, shown as one of them. An id belongs to its label
    until it is released, by its last object.
    """

    def __init__(self) -> None:
        self._ids: dict[Hashable, int] = {None: NO_GROUP}
        self._labels: list[Hashable] = [None]
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> int:
        """All ids in use lie below this number."""
        return len(self._labels)

    def check(self, labels: Sequence[Any]) -> None:
        """Refuses labels that cannot be one. Known labels cost one look-up each."""
        ids = self._ids
        try:
            new = [label for label in labels if label not in ids]
        except TypeError:
            new = list(labels)
        for label in new:
            if not _is_label(label):
                allowed = "text, a number, a boolean, None, or a tuple of these"
                raise InvalidInput(f"a group must be {allowed}, got {label!r}")

    def assign(self, labels: Sequence[Any]) -> tuple[Ints, list[int]]:
        """Id of each checked label, and the ids that are new. O(1) each."""
        new = []
        ids = self._ids
        for label in labels:
            if label not in ids:
                ids[label] = self._free.pop() if self._free else len(self._labels)
                self._labels[ids[label] : ids[label] + 1] = [label]
                new.append(ids[label])
        return np.fromiter(map(ids.__getitem__, labels), np.int64, len(labels)), new

    def release(self, ids: Sequence[int]) -> None:
        """Forgets the labels of these distinct ids."""
        for group in ids:
            del self._ids[self._labels[group]]
            self._labels[group] = None
            self._free.append(group)

    def take(self, ids: Ints) -> list[Hashable]:
        """Labels of these ids."""
        return list(map(self._labels.__getitem__, ids.tolist()))

    def dump(self) -> dict[str, np.ndarray]:
        """Labels by id, as one JSON text."""
        text = json.dumps([self._labels, self._free])
        return {"groups": np.frombuffer(text.encode(), np.uint8).copy()}

    def load(self, state: dict[str, Any]) -> None:
        labels, self._free = json.loads(np.asarray(state["groups"]).tobytes())
        self._labels = [_label(label) for label in labels]
        free = set(self._free)
        self._ids = {label: group for group, label in enumerate(self._labels) if group not in free}

    def _check(self) -> None:
        """Asserts that labels and ids are each other's inverse."""
        assert all(self._labels[group] == label for label, group in self._ids.items())
        assert len(self._ids) + len(self._free) == len(self._labels) == len({*self._free, *self._ids.values()})


def _is_label(label: Any) -> bool:
    if isinstance(label, tuple):
        return all(map(_is_label, label))
    return isinstance(label, _SCALARS) and label == label  # NaN equals nothing, itself included


def _label(value: Any) -> Hashable:
    """JSON has lists where we had tuples."""
    return tuple(map(_label, value)) if isinstance(value, list) else value
