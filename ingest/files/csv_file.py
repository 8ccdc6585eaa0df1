"""CSV (RFC 4180, any delimiter, quoted line breaks included): cells become JSON text column by column.

An empty cell means that the field is missing. Dimensions are numbers as written; group and carried fields are
strings unless the layout says that they are JSON.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final

from ingest.batch import Batch
from ingest.files import cells
from ingest.files.layout import Layout
from ingest.files.reader import FEW, Reader, in_chunks
from skyline.errors import InvalidInput
from skyline.wire.rejects import Rejected
from skyline.wire.updates import INTERVAL, MAX_VALUE_BYTES, OP

_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")


class CsvFile(Reader):
    """About 2 µs a row. A row that breaks the rules of quoting is refused, and the next line begins a row again."""

    def __init__(self, path: Path, layout: Layout, delimiter: str = ",") -> None:
        self._delimiter = delimiter
        super().__init__(path, layout)

    def _begin(self) -> None:
        csv.field_size_limit(2 * MAX_VALUE_BYTES)
        self._bytes = self.stream()
        # bytes that are not UTF-8 survive as they are, so that the checker can refuse their row and no other
        text = io.TextIOWrapper(self._bytes, encoding="utf-8-sig", errors="surrogateescape", newline="")
        self._lines = csv.reader(text, delimiter=self._delimiter, strict=True)
        (header, *_), (line, *_) = next(self._parts(1), ([list[str]()], [1]))
        if isinstance(header, _Broken):
            raise InvalidInput(f"{self.path}:{line}: {header.why}")
        self._check(header)
        self._width = len(header)
        self._columns = _Columns(self.layout, header)

    def _check(self, header: list[str]) -> None:
        if not header:
            raise InvalidInput(f"{self.path} is empty: a CSV file begins with a line of column names")
        if any("\0" in name for name in header):
            raise InvalidInput(f"{self.path} is not UTF-8: convert it first, such as with iconv -f UTF-16 -t UTF-8")
        try:
            self.layout.check_header(self.path, header)
        except InvalidInput as error:
            hint = "; is --delimiter right?" if len(header) == 1 else ""
            raise InvalidInput(f"{error}{hint}") from None

    def batches(self, skip: int) -> Iterator[Batch]:
        for parts in in_chunks(self._parts(FEW), self._bytes):
            rows = list(chain.from_iterable(rows for rows, _ in parts))
            places = list(chain.from_iterable(places for _, places in parts))
            dropped = min(skip, len(rows))
            skip -= dropped
            if dropped < len(rows):
                yield self._batch(rows[dropped:], places[dropped:])

    def _parts(self, count: int) -> Iterator[tuple[list[list[str]], Sequence[int]]]:
        """(up to `count` rows, the line on which each begins). An empty line is no row."""
        while True:
            before = self._lines.line_num
            rows = self._some(count)
            if not rows:
                return
            places = _places(rows, before, self._lines.line_num)
            if not all(rows):
                kept = [index for index, row in enumerate(rows) if row or isinstance(row, _Broken)]
                rows, places = [rows[index] for index in kept], [places[index] for index in kept]
            if rows:
                yield rows, places

    def _some(self, count: int) -> list[list[str]]:
        rows: list[list[str]] = []
        try:
            for row in islice(self._lines, count):
                rows.append(row)  # one by one: what was read before an error is kept
        except csv.Error as error:
            rows.append(_Broken(f"what ends on line {self._lines.line_num} is not CSV: {error}"))
        except (EOFError, OSError, zlib.error) as error:
            raise InvalidInput(f"{self.path}:{self._lines.line_num + 1}: {error}") from None
        return rows

    def _batch(self, rows: list[list[str]], places: Sequence[int]) -> Batch:
        width = self._width
        problems: dict[int, Rejected] = {}
        if set(map(len, rows)) != {width}:
            for index, row in enumerate(rows):
                if len(row) != width:
                    why = (
                        row.why if isinstance(row, _Broken) else f"the row has {len(row)} cells, the header has {width}"
                    )
                    problems[index] = Rejected("bad_row", why)
                    rows[index] = (row + [""] * width)[:width]
        return self._columns.batch(list(zip(*rows, strict=True)), places, problems, self.now())


class _Broken(list[str]):
    """Stands for a row that cannot be read; the last one of its part. It has no cells."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


def _places(rows: list[list[str]], before: int, after: int) -> Sequence[int]:
    """The line on which each row begins."""
    if after - before == len(rows):
        return range(before + 1, after + 1)
    places, line = [], before + 1
    for row in rows:
        places.append(line)
        line += 1 + sum(len(_LINE_BREAK.findall(cell)) for cell in row)
    return places


class _Columns:
    """How each column of one file is turned into JSON, worked out once."""

    def __init__(self, layout: Layout, header: Sequence[str]) -> None:
        self._layout = layout
        place = {column: index for index, column in enumerate(header)}
        view = layout.view
        convert = dict.fromkeys(view.dimensions.names, cells.numbers)
        convert |= dict.fromkeys(INTERVAL, cells.instants)
        convert |= dict.fromkeys(layout.json, cells.documents)
        self._fields = [
            (json.dumps(name), place[column], convert.get(name, cells.texts))
            for name, column in layout.fields.items()
            if column in place
        ]
        self._needed = [place[layout.fields[name]] for name in (*view.dimensions.names, *view.group_by)]
        self._modifies = layout.fields[OP] in place
        members = ",".join(name.replace("%", "%%") + ":%s" for name, _, _ in self._fields)
        self._template = "{" + members + "}\n"
        self._key = place.get(layout.key)
        self._time = place[layout.time] if layout.time else None
        self._delete = place[layout.delete] if layout.delete else None

    def batch(
        self, columns: list[tuple[str, ...]], places: Sequence[int], ragged: dict[int, Rejected], now: int
    ) -> Batch:
        count = len(columns[0])
        keys = [None] * count if self._key is None else [_utf8(cell) or None for cell in columns[self._key]]
        values = self._values(columns, count)
        timestamps, problems = [now] * count, dict[int, Rejected]()
        if self._time is not None:
            timestamps, problems = cells.times(str(self._layout.time), columns[self._time], now)
        if self._delete is not None:
            self._mark_deleted(columns[self._delete], values, problems)
        return Batch(keys, values, timestamps, places, problems | ragged)

    def _values(self, columns: list[tuple[str, ...]], count: int) -> list[bytes | None]:
        if self._modifies:  # a null would be a value there: patch would set it
            return [self._value_with_gaps(row) for row in zip(*columns, strict=True)]
        texts = [convert(columns[place]) for _, place, convert in self._fields]
        joined = (self._template * count) % tuple(chain.from_iterable(zip(*texts, strict=True)))
        values: list[bytes | None] = [*_utf8(joined).split(b"\n")[:-1]]
        for place in self._needed:
            if "" in columns[place]:
                for index in [index for index, cell in enumerate(columns[place]) if not cell]:
                    values[index] = self._value_with_gaps([column[index] for column in columns])
        return values

    def _value_with_gaps(self, row: Sequence[str]) -> bytes:
        members = [f"{name}:{convert([row[place]])[0]}" for name, place, convert in self._fields if row[place]]
        return _utf8("{" + ",".join(members) + "}")

    def _mark_deleted(self, marks: tuple[str, ...], values: list[bytes | None], problems: dict[int, Rejected]) -> None:
        verdicts = {mark: self._layout.deletes(mark) for mark in set(marks)}
        for index, mark in enumerate(marks):
            verdict = verdicts[mark]
            if isinstance(verdict, Rejected):
                problems.setdefault(index, verdict)
            elif verdict:
                values[index] = None


def _utf8(text: str) -> bytes:
    """Bytes of the file again, those that are not UTF-8 included."""
    return text.encode("utf-8", "surrogateescape")
