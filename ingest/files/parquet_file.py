"""Parquet: typed columns. A null means that the field is missing; timestamps may stand wherever an instant may."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.batch import ROWS, Batch
from ingest.files.reader import CHUNK_BYTES, Reader
from ingest.files.rows import Row, batch_of
from skyline.errors import InvalidInput


class ParquetFile(Reader):
    """About 4 µs a row. Reads only the columns that the layout names."""

    def _begin(self) -> None:
        layout = self.layout
        try:
            self._file = pq.ParquetFile(self._raw)
        except (pa.ArrowException, OSError) as error:
            raise InvalidInput(f"{self.path} is not Parquet: {error}") from None
        header = self._file.schema_arrow.names
        layout.check_header(self.path, header)
        self._columns = layout.columns(header)
        self.total = self._file.metadata.num_rows
        self._read = 0

    def position(self) -> int:
        """Rows read."""
        return self._read

    def batches(self, skip: int) -> Iterator[Batch]:
        try:
            for table in self._file.iter_batches(self._rows_at_a_time(), columns=self._columns):
                start, self._read = self._read, self._read + table.num_rows
                if self._read > skip:
                    dropped = max(0, skip - start)
                    rows = self._rows(table.slice(dropped))
                    yield batch_of(self.layout, rows, range(start + dropped + 1, self._read + 1), self.now())
        except (pa.ArrowException, OSError) as error:
            raise InvalidInput(f"{self.path}: row {self._read + 1} or later cannot be read: {error}") from None

    def _rows_at_a_time(self) -> int:
        """As many as make a batch; fewer where rows are large. The columns that are not read count too."""
        footer = self._file.metadata
        size: int = sum(footer.row_group(place).total_byte_size for place in range(footer.num_row_groups))
        rows: int = footer.num_rows
        return max(1, min(ROWS, CHUNK_BYTES * rows // max(size, 1)))

    def _rows(self, table: Any) -> list[Row]:
        columns = [_values(table.column(name)) for name in self._columns]
        return [
            {name: value for name, value in zip(self._columns, row, strict=True) if value is not None}
            for row in zip(*columns, strict=True)
        ]


def _values(column: Any) -> list[Any]:
    """Python values that JSON can hold; timestamps as datetime. NaN as text, so that it is refused by name."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _values(column.dictionary_decode())
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        column = _as_number(column)
    elif pa.types.is_timestamp(kind):
        # in UTC: a file may name a zone that this machine does not know
        unit = "us" if kind.unit == "ns" else kind.unit
        column = column.cast(pa.timestamp(unit, kind.tz and "UTC"), safe=False)
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return [None if value is None else _text(value) for value in column.to_pylist()]
    values = _in_python(column)
    if pa.types.is_floating(column.type):
        return ["NaN" if value != value else value for value in values]
    return values


def _as_number(column: Any) -> Any:
    """Integers where the type has no digits after the point, as the keys of databases often are."""
    if pa.types.is_decimal(column.type) and column.type.scale == 0:
        with suppress(pa.ArrowInvalid):  # one of them has more than 64 bits
            return column.cast(pa.int64())
    return column.cast(pa.float64())


class _Unreadable:
    """Stands for a value that Python cannot hold, so that it costs its row and no other: nothing takes it."""

    def __init__(self, scalar: Any) -> None:
        self._kind = scalar.type

    def __repr__(self) -> str:
        return f"a {self._kind} that is out of range"


def _in_python(column: Any) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError, LookupError):  # the year 10000, nanoseconds, a time zone, deep in a column
        values = [_one_in_python(scalar) for scalar in column]
    return values


def _one_in_python(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except (OverflowError, ValueError, LookupError):
        return _Unreadable(scalar)


def _text(value: bytes) -> str | bytes:
    """Text where it is UTF-8; other bytes are left to the checker, which refuses their row and no other."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
