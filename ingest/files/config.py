"""What `python -m ingest file` is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skyline.runtime.config import ServiceConfig, setting


@dataclass(frozen=True)
class FileConfig(ServiceConfig):
    """Sends the rows of CSV, JSON Lines or Parquet files (also .gz) as updates of one view."""

    files: tuple[str, ...] = setting((), "files to send, one after the other", positional=True)
    view: str = setting("", "view whose updates the rows are; may be left out when there is only one")
    key: str = setting("", "column that holds the object's key; default: key, which files for window views may lack")
    map: tuple[str, ...] = setting((), "FIELD=COLUMN: the view's field comes from this column; may be repeated")
    time: str = setting("", "column with the event time (milliseconds or ISO 8601); default: the time of reading")
    delete: str = setting("", "COLUMN or COLUMN=VALUE: rows marked so delete their object")
    json: tuple[str, ...] = setting((), "FIELD: CSV cells of this field are JSON, not text; may be repeated")
    format: str = setting("", "csv, tsv, jsonl or parquet; default: by the file's name")
    delimiter: str = setting("", "what separates CSV cells; default: , (tab for .tsv)")
    state: Path = setting(Path(".local/ingest"), "directory that remembers how far each file was sent")
    restart: bool = setting(False, "send the files from their first row, whatever was sent before")
    rejects: str = setting("", "JSON Lines file to which every refused row is appended")
    timeout: float = setting(300.0, "seconds that an update may wait for a broker before the run fails")
    max_ahead: str = setting("1h", "how far event times may lie ahead of the clock")
    replication: int = setting(-1, "replication factor of a topic that must be created; -1 is the broker's default")
    metrics_host: str = setting("127.0.0.1", "address for /metrics")
    metrics_port: int = setting(-1, "port for /metrics; 0 takes a free one, -1 serves none")
