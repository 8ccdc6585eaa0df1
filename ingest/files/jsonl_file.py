"""JSON Lines: one JSON object per line. Fields that the view does not have are left out."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

import orjson

from ingest.batch import ROWS, Batch
from ingest.files.reader import Reader
from ingest.files.rows import batch_of
from skyline.errors import InvalidInput
from skyline.wire.fields import shown
from skyline.wire.rejects import Rejected


class JsonLinesFile(Reader):
    """About 4 µs a line."""

    def _begin(self) -> None:
        """Nothing comes before the first row."""

    def batches(self, skip: int) -> Iterator[Batch]:
        lines = enumerate(self.stream(), start=1)
        filled = ((place, line) for place, line in lines if not line.isspace())
        try:
            for _ in islice(filled, skip):
                pass
            while chunk := list(islice(filled, ROWS)):
                rows = [_object(line) for _, line in chunk]
                yield batch_of(self.layout, rows, [place for place, _ in chunk], self.now())
        except (EOFError, OSError, zlib.error) as error:
            raise InvalidInput(f"{self.path} cannot be read to its end: {error}") from None


def _object(line: bytes) -> dict[str, Any] | Rejected:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return Rejected("bad_json", f"the line is not JSON: {error}")
    return row if isinstance(row, dict) else Rejected("not_an_object", f"expected a JSON object, got {shown(row)}")
