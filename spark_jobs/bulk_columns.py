"""The columns that a bulk skyline compares: checked by name and type, as doubles in which smaller is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
"""Begins the names of columns that the job adds; those that are given are called c0, c1, ... meanwhile."""

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
    """Dimensions and group columns of one DataFrame, by name and by what they are called within the job.

    Within it columns are called by their place: names may hold dots, differ in case only, or come twice.

    nulls says what becomes of a row with null or NaN in a dimension: "refuse" fails the job with the column's name,
    "drop" leaves the row out, as dominating nobody and not a member. A null in a group column is a group of its own.
    """

    dimensions: Dimensions
    given: tuple[str, ...]
    diff: tuple[str, ...]
    nulls: str
    types: tuple[DataType, ...]

    @classmethod
    def of(cls, rows: DataFrame, directions: Mapping[str, str], diff: Sequence[str], nulls: str) -> Columns:
        """Refuses columns that are missing, that have no order, or whose equality is in doubt."""
        dimensions = Dimensions.of(directions)
        if isinstance(diff, str):
            raise InvalidInput(f"diff takes a list of columns, such as [{diff!r}]")
        if nulls not in NULLS:
            raise InvalidInput(f"nulls must be one of {', '.join(NULLS)}, got {nulls!r}")
        fields = list(rows.schema)
        places = {name: place(number) for number, name in enumerate(rows.columns)}
        known = {field.name: field.dataType for field in fields}
        for name in (*dimensions.names, *diff):
            if name not in known:
                raise InvalidInput(f"there is no column {name!r}; columns are: {', '.join(known)}")
            if rows.columns.count(name) > 1:
                raise InvalidInput(f"there are several columns {name!r}: rename them")
        for name in dimensions.names:
            if not isinstance(known[name], NumericType):
                raise InvalidInput(f"column {name!r} is {known[name].simpleString()}, not a number: cast it")
        for name in diff:
            kind = known[name]
            if not isinstance(kind, _GROUPS) or (isinstance(kind, StringType) and kind != StringType()):
                raise InvalidInput(
                    f"column {name!r} is {kind.simpleString()}: groups need text, whole numbers, dates or booleans"
                )
        return cls(
            dimensions,
            tuple(places[name] for name in dimensions.names),
            tuple(places[name] for name in dict.fromkeys(diff)),
            nulls,
            tuple(known[name] for name in dimensions.names),
        )

    @property
    def names(self) -> list[str]:
        """Names of the columns that hold the normalised point."""
        return [f"{PREFIX}{axis}" for axis in range(len(self.dimensions))]

    def admitted(self, rows: DataFrame, wanted: str = "true") -> DataFrame:
        """Rows with a point, and of these the `wanted` (SQL), with the point's columns added. One pass in the JVM.

        rows: with columns called by their place.

        The point: doubles, smaller is better, -0.0 as 0.0. A whole number or decimal that no double can tell from its
        neighbours is refused: rounded, it would tie. Conditions are SQL: pyspark takes a millisecond to make a Column.
        """
        signs = self.dimensions.signs.tolist()
        point = [
            f"{sign} * CAST({given} AS DOUBLE) + 0.0D AS {name}"
            for name, given, sign in zip(self.names, self.given, signs, strict=True)
        ]
        with_point = rows.selectExpr("*", *point)
        missing = " OR ".join(self._missing(axis) for axis in range(len(self.dimensions)))
        if self.nulls == "drop":
            with_point = with_point.where(f"NOT ({missing})")
        else:
            refusal = self._refusal("is null or NaN, which has no order: nulls=drop leaves such rows out")
            wanted = f"CASE WHEN {missing} THEN {refusal} ELSE {wanted} END"
        inexact = [self._inexact(axis) for axis in range(len(self.dimensions)) if _may_round(self.types[axis])]
        if inexact:
            refusal = self._refusal("has more digits than a double holds: scale or round it")
            wanted = f"CASE WHEN {' OR '.join(inexact)} THEN {refusal} ELSE {wanted} END"
        return with_point.where(wanted)

    def _missing(self, axis: int) -> str:
        given = self.given[axis]
        floating = isinstance(self.types[axis], DoubleType | FloatType)
        return f"{given} IS NULL OR isnan({given})" if floating else f"{given} IS NULL"

    def _inexact(self, axis: int) -> str:
        given = self.given[axis]
        return f"NOT (TRY_CAST(CAST({given} AS DOUBLE) AS {self.types[axis].simpleString()}) <=> {given})"

    def _refusal(self, why: str) -> str:
        """SQL that fails the job with the row's values."""
        parts = [
            f"{text(f'{name}=')}, coalesce(CAST({given} AS STRING), 'null')"
            for name, given in zip(self.dimensions.names, self.given, strict=True)
        ]
        values = ", ', ', ".join(parts)
        return f"CAST(raise_error(concat('a row with ', {values}, {text(f': one of these {why}')})) AS BOOLEAN)"


def _may_round(kind: DataType) -> bool:
    return isinstance(kind, LongType) or (isinstance(kind, DecimalType) and kind.precision > _EXACT_DIGITS)


def place(number: int) -> str:
    """What the column of this number is called within the job."""
    return f"c{number}"


def column(name: str) -> Column:
    """The column of exactly this name, dots and all."""
    return F.col(quoted(name))


def quoted(name: str) -> str:
    """The name of a column in SQL, dots and all."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """A string in SQL.

    >>> text("it's")
    "'it\\\\'s'"
    """
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
