"""The columns that a bulk skyline compares: checked by name and type, as doubles in which smaller is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    LongType,
    NumericType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from skyline.errors import InvalidInput
from skyline.view import Dimensions

PREFIX: Final = "_skyline_"
"""Begins the names of columns that exist only within a job."""

NULLS: Final = ("refuse", "drop")
_EXACT_DIGITS: Final = 15
"""Decimals of so many digits differ as doubles if they differ."""

_GROUPS: Final = (
    StringType,
    IntegralType,
    BooleanType,
    DateType,
    TimestampType,
    TimestampNTZType,
    DecimalType,
    BinaryType,
)


@dataclass(frozen=True)
class Columns:
    """Dimensions and group columns of one DataFrame.

    nulls says what becomes of a row with null or NaN in a dimension: "refuse" fails the job with the column's name,
    "drop" leaves the row out, as dominating nobody and not a member. A null in a group column is a group of its own.
    """

    dimensions: Dimensions
    diff: tuple[str, ...]
    nulls: str
    types: tuple[DataType, ...]

    @classmethod
    def of(cls, rows: DataFrame, directions: Mapping[str, str], diff: Sequence[str], nulls: str) -> Columns:
        """Refuses columns that are missing, that have no order, or whose equality is in doubt."""
        dimensions = Dimensions.of(directions)
        if nulls not in NULLS:
            raise InvalidInput(f"nulls must be one of {', '.join(NULLS)}, got {nulls!r}")
        known = {field.name: field.dataType for field in rows.schema}
        for name in (*dimensions.names, *diff):
            if name not in known:
                raise InvalidInput(f"there is no column {name!r}; columns are: {', '.join(known)}")
        for name in dimensions.names:
            if not isinstance(known[name], NumericType):
                raise InvalidInput(f"column {name!r} is {known[name].simpleString()}, not a number: cast it")
        for name in diff:
            if not isinstance(known[name], _GROUPS):
                kind = known[name].simpleString()
                raise InvalidInput(f"column {name!r} is {kind}: groups need text, whole numbers, dates or booleans")
        return cls(dimensions, tuple(diff), nulls, tuple(known[name] for name in dimensions.names))

    @property
    def names(self) -> list[str]:
        """Names of the columns that hold the normalised point."""
        return [f"{PREFIX}{axis}" for axis in range(len(self.dimensions))]

    def point(self) -> dict[str, Column]:
        """The normalised point: doubles, smaller is better, -0.0 as 0.0."""
        return {
            name: sign * column(given).cast("double") + 0.0
            for name, given, sign in zip(self.names, self.dimensions.names, self.dimensions.signs.tolist(), strict=True)
        }

    def admitted(self, rows: DataFrame, wanted: Column | None = None) -> DataFrame:
        """Rows with a point, and of these the `wanted`, with the point's columns added. One pass in the JVM.

        A whole number or decimal that no double can tell from its neighbours is refused: rounded, it would tie.
        """
        with_point = rows.withColumns(self.point())
        missing = reduce(or_, [self._missing(axis) for axis in range(len(self.dimensions))])
        wanted = F.lit(True) if wanted is None else wanted
        if self.nulls == "drop":
            with_point = with_point.where(~missing)
        else:
            wanted = F.when(
                missing, self._refusal("is null or NaN, which has no order: nulls='drop' leaves such rows out")
            ).otherwise(wanted)
        inexact = [self._inexact(axis) for axis in range(len(self.dimensions)) if _may_round(self.types[axis])]
        if inexact:
            wanted = F.when(
                reduce(or_, inexact), self._refusal("has more digits than a double holds: scale or round it")
            ).otherwise(wanted)
        return with_point.where(wanted)

    def _missing(self, axis: int) -> Column:
        given = column(self.dimensions.names[axis])
        return (
            given.isNull() | F.isnan(given) if isinstance(self.types[axis], DoubleType | FloatType) else given.isNull()
        )

    def _inexact(self, axis: int) -> Column:
        given = column(self.dimensions.names[axis])
        return given.cast("double").cast(self.types[axis]) != given

    def _refusal(self, why: str) -> Column:
        given = F.concat_ws(
            ", ",
            *[
                F.concat(F.lit(f"{name}="), F.coalesce(column(name).cast("string"), F.lit("null")))
                for name in self.dimensions.names
            ],
        )
        return F.raise_error(F.concat(F.lit("a row with "), given, F.lit(f": one of these {why}"))).cast("boolean")


def _may_round(kind: DataType) -> bool:
    return isinstance(kind, LongType) or (isinstance(kind, DecimalType) and kind.precision > _EXACT_DIGITS)


def column(name: str) -> Column:
    """The column of exactly this name, dots and all."""
    return F.col("`" + name.replace("`", "``") + "`")
