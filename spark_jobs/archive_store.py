"""The archive on disk: plain Parquet that any reader understands, filled and compacted exactly once.

    ROOT/changes/view=V/date=YYYY-MM-DD/*.parquet      rows of V.changes
    ROOT/updates/view=V/date=YYYY-MM-DD/*.parquet      rows of V.updates, where asked for
    ROOT/_work/KIND/V/                                 checkpoint, staged files and journal of the job; not data

A batch, and a compaction, is staged first; then one journal file, written whole or not at all, names the files that
go and those that come; then it is carried out. Whoever finds a journal carries it out to the end, however often, with
the same result. So a job that is killed anywhere neither loses nor doubles a row, and readers need no log of ours.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.cli import JobError
from spark_jobs.storage import Entry, Storage

KINDS: Final = ("changes", "updates")
SMALL_BYTES: Final = 32 << 20
"""A file below this is worth merging: Parquet readers like files of tens of megabytes."""

COMPACT_AT: Final = 16
"""Small files of one date that are merged into one. Each row is then rewritten about once or twice in its life."""


@dataclass(frozen=True)
class ArchiveStore:
    """The part of the archive that holds one kind of one view's records."""

    spark: SparkSession
    storage: Storage
    kind: str
    view: str

    @classmethod
    def at(cls, spark: SparkSession, root: str, kind: str, view: str) -> ArchiveStore:
        return cls(spark, Storage(spark, root), kind, view)

    @property
    def place(self) -> str:
        return f"{self.kind}/view={self.view}"

    @property
    def work(self) -> str:
        return f"_work/{self.kind}/{self.view}"

    @property
    def checkpoint(self) -> str:
        return self.storage.url(f"{self.work}/checkpoint")

    def put(self, rows: DataFrame, batch: int) -> None:
        """Adds one batch, once: putting the same batch again only makes sure that it is there."""
        journal = f"{self.work}/batch-{batch:012d}.json"
        if not self.storage.exists(journal):
            staged = self._stage(rows)
            self._journal(journal, [[entry.path, self._target(entry, f"{batch:012d}")] for entry in staged], [])
        self.carry_out(journal)
        self._forget_batches_before(journal)

    def compact(self, at_least: int = COMPACT_AT, small: int = SMALL_BYTES) -> int:
        """Merges the small files of every date that has `at_least` so many. -> how many files are fewer."""
        journal = f"{self.work}/compact.json"
        if self.storage.exists(journal):
            self.carry_out(journal)
            self.storage.remove(journal)
        by_date: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.files():
            if entry.size < small:
                by_date[entry.path.rsplit("/", 1)[0]].append(entry)
        fewer = 0
        for entries in by_date.values():
            if len(entries) >= max(2, at_least):
                self._merge(journal, entries)
                fewer += len(entries) - 1
        return fewer

    def files(self) -> list[Entry]:
        """The archive's files of this kind and view."""
        return [entry for entry in self.storage.files(self.place) if entry.path.endswith(".parquet")]

    def carry_out(self, journal: str) -> None:
        """Removes and moves what the journal names; what is done already is passed over."""
        plan = json.loads(self.storage.read(journal))
        for path in plan["removes"]:
            self.storage.remove(path)
        for source, target in plan["moves"]:
            if self.storage.exists(source):
                self.storage.move(source, target)
            elif not self.storage.exists(target):
                raise JobError(f"the archive is damaged: {self.storage.url(target)} is named in {journal} but missing")

    def _stage(self, rows: DataFrame) -> list[Entry]:
        staging = f"{self.work}/staged"
        self.storage.remove(staging)
        dated = rows.drop("view").withColumn("date", F.to_date("at"))
        dated.write.partitionBy("date").parquet(self.storage.url(staging))
        return [entry for entry in self.storage.files(staging) if entry.path.endswith(".parquet")]

    def _merge(self, journal: str, entries: Sequence[Entry]) -> None:
        date = entries[0].path.rsplit("/", 2)[1]
        staging = f"{self.work}/merged"
        self.storage.remove(staging)
        rows = self.spark.read.parquet(*[self.storage.url(entry.path) for entry in entries])
        rows.coalesce(1).sortWithinPartitions("log_offset").write.parquet(self.storage.url(f"{staging}/{date}"))
        merged = [entry for entry in self.storage.files(staging) if entry.path.endswith(".parquet")]
        # named after its newest batch: no later file can have that name
        newest = entries[-1].path.rsplit("/", 1)[1].split("-")[0]
        moves = [[entry.path, self._target(entry, f"{newest}-merged")] for entry in merged]
        self._journal(journal, moves, [entry.path for entry in entries])
        self.carry_out(journal)
        self.storage.remove(journal)

    def _target(self, staged: Entry, prefix: str) -> str:
        """Where a staged file goes: its date stays, its name begins with the batch."""
        _, date, name = staged.path.rsplit("/", 2)
        return f"{self.place}/{date}/{prefix}-{name.removeprefix('part-')}"

    def _journal(self, path: str, moves: list[list[str]], removes: list[str]) -> None:
        self.storage.write(path, json.dumps({"moves": moves, "removes": removes}))

    def _forget_batches_before(self, journal: str) -> None:
        """Spark repeats only the last batch."""
        for entry in self.storage.files(self.work):
            if entry.path.startswith(f"{self.work}/batch-") and entry.path < journal:
                self.storage.remove(entry.path)


def read_archive(spark: SparkSession, root: str, kind: str, view: str) -> DataFrame:
    """The archived rows of one view, with its columns `view` and `date`."""
    storage = Storage(spark, root)
    if not any(entry.path.endswith(".parquet") for entry in storage.files(f"{kind}/view={view}")):
        held = {entry.path.split("/")[1] for entry in storage.files(kind)}
        names = ", ".join(sorted(name.removeprefix("view=") for name in held)) or "none"
        raise JobError(f"{storage.url()} holds no {kind} of view {view!r}; views with {kind} there: {names}")
    return spark.read.option("basePath", storage.url(kind)).parquet(storage.url(f"{kind}/view={view}"))
