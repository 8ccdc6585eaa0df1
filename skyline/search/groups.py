"""Group-by skylines: one search, in which nothing dominates across labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from skyline.errors import InvalidInput
from skyline.search.members import Members
from skyline.search.parts import Snapshot
from skyline.search.query import Query
from skyline.view import Ints

Labels = npt.NDArray[Any]


def by_stored_label(query: Query, snapshot: Snapshot) -> Query:
    """The query, grouped by the labels that the index holds."""
    distinct = [np.unique(tree.points[:rows, -1]) for tree, rows in zip(snapshot.parts, snapshot.visible, strict=True)]
    return query._replace(grouped=True, labels=np.unique(np.concatenate(distinct)))


def by_label(query: Query, snapshot: Snapshot, labels: Labels) -> Query:
    """The query, grouped by labels[id]."""
    if labels.ndim != 1:
        raise InvalidInput(f"labels must be a sequence, one per id, got shape {labels.shape}")
    for part, tree in enumerate(snapshot.parts):
        ids = tree.ids[: snapshot.visible[part]][snapshot.alive(part)]
        strange = ids[(ids < 0) | (ids >= len(labels))]
        if len(strange):
            raise InvalidInput(f"labels must have one entry per id: id {strange[0]} has none among {len(labels)}")
    try:
        distinct, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise InvalidInput(f"labels must be of one kind that can be sorted: {error}") from None
    return query._replace(grouped=True, labels=np.arange(float(len(distinct))), label_of=codes.astype(np.float64))


def gather(search: Members, label_of: Callable[[Ints], Labels]) -> dict[Any, Ints]:
    """All members by label, labels ascending, members in the order of the search; `label_of` takes found places."""
    places = search.places()
    distinct, group = np.unique(label_of(places), return_inverse=True)
    return {label: places[group == code, 0] for code, label in enumerate(distinct.tolist())}
