"""Reading the archive while it is being filled: whole, and with its files in place until the reader is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep, time
from typing import Final
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, DateType, LongType, StringType, StructField, StructType, TimestampType

from skyline.wire.changes import ChangeRecord
from spark_jobs.archive_store import ArchiveStore
from spark_jobs.changes import schema_of
from spark_jobs.cli import JobError, note

_PATIENCE_SECONDS: Final = 20.0
"""How long a reader waits for a journal to be carried out. It takes milliseconds, unless its job was killed."""

_LEASE_SECONDS: Final = 4 * 3600
"""How long compaction waits for a reader that does not say that it is done: it may have been killed."""


def read_archive(spark: SparkSession, root: str, kind: str, view: str) -> DataFrame:
    """The archived rows of one view, with its columns `view` and `date`, as of now.

    Only as long as `kept` lasts are the files sure to be there when they are read.
    """
    store = ArchiveStore.at(spark, root, kind, view)
    if not store.files():
        held = {entry.path.split("/")[1] for entry in store.storage.files(kind)}
        names = ", ".join(sorted(name.removeprefix("view=") for name in held)) or "none"
        raise JobError(f"{store.storage.url()} holds no {kind} of view {view!r}; views with {kind} there: {names}")
    deadline = monotonic() + _PATIENCE_SECONDS
    while True:
        settled = store.is_settled()
        # lists the files now: what is settled before and after was so in between, but for a whole merge of milliseconds
        reader = spark.read.schema(archive_schema(kind)).option("basePath", store.storage.url(kind))
        rows = reader.parquet(store.storage.url(store.place))
        if settled and store.is_settled():
            return rows
        if monotonic() > deadline:
            raise JobError(
                f"{store.storage.url(store.place)} is incomplete: the job that fills it was stopped while it put files "
                f"in place; run spark_jobs.archive again"
            )
        sleep(0.1)


def archive_schema(kind: str) -> StructType:
    """Every column of the archive. Told to Spark, which would take a view called 2024 for a number."""
    if kind == "changes":
        fields = list(schema_of(ChangeRecord))
        fields = [StructField("at", TimestampType()) if field.name == "at" else field for field in fields]
    else:
        kinds = {"key": BinaryType(), "value": BinaryType(), "at": TimestampType()}
        fields = [StructField(name, kind) for name, kind in kinds.items()]
    more = {"log_offset": LongType(), "view": StringType(), "date": DateType()}
    return StructType(fields + [StructField(name, kind) for name, kind in more.items()])


@contextmanager
def kept(spark: SparkSession, root: str, kind: str, view: str) -> Iterator[DataFrame]:
    """`read_archive`, and until the end of the block its files stay: compaction waits."""
    store = ArchiveStore.at(spark, root, kind, view)
    lease = f"{store.readers}/{int(time()) + _LEASE_SECONDS}-{uuid4().hex}"
    if store.files():
        _write_lease(store, lease)
    try:
        yield read_archive(spark, root, kind, view)
    finally:
        store.storage.remove(lease)


def _write_lease(store: ArchiveStore, lease: str) -> None:
    try:
        store.storage.write(lease, "")
    except Py4JJavaError:
        note(f"note: {store.storage.url(store.readers)} cannot be written to: files may be merged while they are read")
