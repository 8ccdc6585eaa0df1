"""Chooses the reader of a file, by --format or by the file's name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ingest.files.csv_file import CsvFile
from ingest.files.jsonl_file import JsonLinesFile
from ingest.files.layout import Layout
from ingest.files.parquet_file import ParquetFile
from ingest.files.reader import Reader
from skyline.errors import InvalidInput

_BY_SUFFIX: Final = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
FORMATS: Final = ("csv", "tsv", "jsonl", "parquet")


def open_file(path: Path, layout: Layout, kind: str = "", delimiter: str = "") -> Reader:
    """The reader for this file; `kind` is one of FORMATS, or empty to go by the name."""
    kind = kind or _by_name(path)
    if kind in ("csv", "tsv"):
        delimiter = delimiter or ("," if kind == "csv" else "\t")
        if len(delimiter) != 1:
            raise InvalidInput(f"--delimiter must be one character, got {delimiter!r}")
        return CsvFile(path, layout, delimiter)
    if kind == "jsonl":
        return JsonLinesFile(path, layout)
    if kind == "parquet":
        return ParquetFile(path, layout)
    raise InvalidInput(f"--format must be one of {', '.join(FORMATS)}, got {kind!r}")


def _by_name(path: Path) -> str:
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if suffix.lower() not in _BY_SUFFIX:
        raise InvalidInput(f"{path}: the name does not tell the format; say --format {' | '.join(FORMATS)}")
    return _BY_SUFFIX[suffix.lower()]
