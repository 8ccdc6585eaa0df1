"""A question to the index, checked and turned inward once, in the form that the kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from skyline.errors import InvalidInput
from skyline.view import NEVER, Dimensions, Floats, Ints, positive, sequence

Coordinates = Sequence[float | None] | Floats
"""One number per dimension of the index, in given units; None (or NaN) says nothing about a dimension."""

LARGEST_LABEL: Final = 2**53
"""Labels are compared as float64, beside the dimensions: up to here every integer has its own."""

_NOBODY: Final = np.empty(0)


class Query(NamedTuple):
    """What is searched: the space (dims, reference), the order (weights), who takes part (box), and how deep (k)."""

    dims: Ints  # (s,) columns that count
    reference: Floats  # (s,) where distances are measured from; NaN: the value itself counts
    weights: Floats  # (s,)
    low: Floats  # (columns,) the box, label included, both ends in it
    high: Floats  # (columns,)
    boxed: bool
    k: int
    grouped: bool = False
    labels: Floats = _NOBODY  # ascending, when grouped
    label_of: Floats = _NOBODY  # by id, when grouped by labels that the index does not hold

    @property
    def width(self) -> int:
        """Length of a corner in the space of the question."""
        return len(self.dims) + 2 * self.grouped


class Space:
    """Dimensions and columns of one index: makes queries."""

    def __init__(self, dimensions: Dimensions, labelled: bool) -> None:
        self.dimensions = dimensions
        self.labelled = labelled
        self.columns = len(dimensions) + labelled

    def query(
        self,
        low: Coordinates | None = None,
        high: Coordinates | None = None,
        dims: Iterable[int | str] | int | str | None = None,
        reference: Coordinates | None = None,
        k: int = 1,
        weights: Sequence[float] | Floats | None = None,
        label: int | None = None,
    ) -> Query:
        chosen = self._chosen(dims)
        box = self._box(low, high, label)
        return Query(
            chosen,
            self._reference(reference)[chosen],
            self._weights(weights)[chosen],
            *box,
            boxed=bool((box[0] > -np.inf).any() or (box[1] < np.inf).any()),
            k=positive("k", k),
        )

    def _chosen(self, dims: Iterable[int | str] | int | str | None) -> Ints:
        names = self.dimensions.names
        if dims is None:
            return np.arange(len(names))
        asked = list(dims) if isinstance(dims, Iterable) and not isinstance(dims, str) else [dims]
        chosen = [names.index(dim) if dim in names else dim for dim in asked]
        for dim in chosen:
            if not _is_integer(dim) or not 0 <= int(dim) < len(names):
                raise InvalidInput(f"dims: {dim!r} is no dimension; allowed: 0 to {len(names) - 1}, {', '.join(names)}")
        if not chosen or len(set(chosen)) < len(chosen):
            raise InvalidInput(f"dims: name one dimension or more, each once, got {asked!r}")
        return np.array(chosen, np.int64)

    def _box(self, low: Coordinates | None, high: Coordinates | None, label: int | None) -> tuple[Floats, Floats]:
        below = self._coordinates("low", low, -np.inf)
        above = self._coordinates("high", high, np.inf)
        for name, least, most in zip(self.dimensions.names, below, above, strict=True):
            if least > most:
                raise InvalidInput(f"the box is upside down in {name}: low {least} is above high {most}")
        ends = self.dimensions.inward([below, above])
        inward = ends.min(axis=0), ends.max(axis=0)
        if not self.labelled:
            if label is not None:
                raise InvalidInput(f"label {label!r}: this index holds no labels; give labels when building it")
            return inward
        if label is None:
            return np.append(inward[0], -np.inf), np.append(inward[1], np.inf)
        if not _is_integer(label) or abs(int(label)) > LARGEST_LABEL:
            raise InvalidInput(f"label must be an integer between -2**53 and 2**53, got {label!r}")
        return np.append(inward[0], float(label)), np.append(inward[1], float(label))

    def _reference(self, reference: Coordinates | None) -> Floats:
        given = self._coordinates("reference", reference, np.nan)
        if np.isinf(given).any():
            raise InvalidInput(f"reference must be finite (or None where none is meant), got {list(given)}")
        return given * self.dimensions.signs

    def _weights(self, weights: Sequence[float] | Floats | None) -> Floats:
        if weights is None:
            return np.ones(len(self.dimensions))
        given = self._coordinates("weights", weights, np.nan)
        if not (np.isfinite(given) & (given >= 0)).all():
            raise InvalidInput(
                f"weights must be finite and not negative, or the order would not be monotone, got {list(given)}"
            )
        return given

    def _coordinates(self, what: str, given: Coordinates | Sequence[float] | None, missing: float) -> Floats:
        count = len(self.dimensions)
        if given is None:
            return np.full(count, missing)
        try:
            listed = [np.nan if number is None else number for number in given]
            numbers = np.array(listed, np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput(f"{what} must be numbers: {error}") from None
        if any(isinstance(number, str | bytes) for number in listed):
            raise InvalidInput(f"{what} must be numbers, got {listed}")
        if numbers.shape != (count,):
            raise InvalidInput(f"{what} must have {count} numbers, one per dimension, got shape {numbers.shape}")
        return np.where(np.isnan(numbers), missing, numbers)


def integers(what: str, given: Any) -> Ints:
    """`given` as a fresh int64 array (n,)."""
    array = sequence(what, given)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and int(array.max()) >= 2**63):
        raise InvalidInput(f"{what} must be a sequence of 64-bit integers, got {array.dtype} of shape {array.shape}")
    return array.astype(np.int64)


def most(limit: int | None) -> int:
    """How many members end a search, as an int; 0 is allowed."""
    if limit is None:
        return NEVER
    return 0 if _is_integer(limit) and limit == 0 else positive("limit", limit)


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
