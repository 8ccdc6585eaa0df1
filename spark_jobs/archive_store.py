"""The archive on disk: plain Parquet that any reader understands, filled and compacted exactly once.

    ROOT/changes/view=V/date=YYYY-MM-DD/*.parquet      rows of V.changes
    ROOT/updates/view=V/date=YYYY-MM-DD/*.parquet      rows of V.updates, where asked for
    ROOT/_work/KIND/V/                                 checkpoint, owner, staged files, journals, readers; not data

A batch, and a compaction, is staged first; then one journal file, written whole or not at all, names the files that
go and those that come; then it is carried out. Whoever finds a journal carries it out to the end, however often, with
the same result. So a job that is killed anywhere neither loses nor doubles a row, and readers need no log of ours:
only while a journal is being carried out do they see a part of it, and archive_reading.py waits for that.

Two jobs on one part would undo each other's work. So a job that starts makes itself the owner, stages where no other
does, and writes a journal only while it still is: the one that ran before ends with an error.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.cli import JobError
from spark_jobs.storage import Entry, Storage

KINDS: Final = ("changes", "updates")
SMALL_BYTES: Final = 32 << 20
"""A file below this is worth merging: Parquet readers like files of tens of megabytes."""

COMPACT_AT: Final = 16
"""Small files of the newest date that are merged into one; of a date that is over, two are enough."""


@dataclass(frozen=True)
class ArchiveStore:
    """The part of the archive that holds one kind of one view's records."""

    spark: SparkSession
    storage: Storage
    kind: str
    view: str
    owner: str = ""

    @classmethod
    def at(cls, spark: SparkSession, root: str, kind: str, view: str) -> ArchiveStore:
        """To look at. Who puts rows there takes it first."""
        return cls(spark, Storage(spark, root), kind, view)

    def taken(self) -> ArchiveStore:
        """The same, owned by the caller from now on, with every journal carried out that was left half done."""
        owner = uuid4().hex
        self.storage.write(self._owner, owner)
        for journal in self._journals():
            self.carry_out(journal)
        self.storage.remove(self._compaction)
        return replace(self, owner=owner)

    @property
    def place(self) -> str:
        return f"{self.kind}/view={self.view}"

    @property
    def work(self) -> str:
        return f"_work/{self.kind}/{self.view}"

    @property
    def checkpoint(self) -> str:
        return self.storage.url(f"{self.work}/checkpoint")

    @property
    def readers(self) -> str:
        """Where readers say until when they need the files that are there: see archive_reading.py."""
        return f"{self.work}/readers"

    @property
    def _owner(self) -> str:
        return f"{self.work}/owner"

    @property
    def _compaction(self) -> str:
        return f"{self.work}/compact.json"

    @property
    def _staging(self) -> str:
        return f"{self.work}/staging/{self.owner}"

    def check_checkpoint(self) -> None:
        """Raises where there are files but no checkpoint: everything would be archived a second time."""
        if self.files() and not self.storage.exists(f"{self.work}/checkpoint"):
            raise JobError(
                f"{self.storage.url(self.place)} holds files, but {self.checkpoint}, which says how far they reach, "
                f"is gone: archive to a new --root"
            )

    def put(self, rows: DataFrame, batch: int) -> set[str]:
        """Adds one batch, once: putting the same batch again only makes sure that it is there. -> the dates it is of"""
        journal = self._batch(batch)
        if not self.storage.exists(journal):
            staged = self._stage(rows)
            if not self.storage.exists(journal):  # the job that was taken over may just have written its last one
                self._journal(journal, [[entry.path, self._target(entry, f"{batch:012d}")] for entry in staged], [])
        plan = self.carry_out(journal)
        self.storage.remove(self._batch(batch - 1))  # Spark repeats only the last one
        self._clear()
        return {target.rsplit("/", 2)[1] for _, target in plan["moves"]}

    def compact(self, dates: Collection[str] | None = None, at_least: int = COMPACT_AT) -> int:
        """Merges the small files of these dates, or all; of the newest, if it has so many. -> how many are fewer.

        Not while somebody reads: a file that was listed must be there when it is opened.
        """
        if self.storage.exists(self._compaction):
            self.carry_out(self._compaction)
            self.storage.remove(self._compaction)
        by_date: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.files() if dates is None else [entry for date in dates for entry in self.files(date)]:
            if entry.size < SMALL_BYTES:
                by_date[entry.path.rsplit("/", 1)[0]].append(entry)
        fewer = 0
        for date, entries in by_date.items():
            worth = worth_merging(entries)
            enough = max(2, at_least) if date == max(by_date) else 2
            if len(worth) >= enough and not self._is_read() and self._merge(worth):
                fewer += len(worth) - 1
        return fewer

    def files(self, date: str = "") -> list[Entry]:
        """The archive's files of this kind and view, of one date or all."""
        place = f"{self.place}/{date}" if date else self.place
        return [entry for entry in self.storage.files(place) if entry.path.endswith(".parquet")]

    def carry_out(self, journal: str) -> dict[str, Any]:
        """Removes and moves what the journal names; what is done already is passed over. -> what it names

        A staged file that is gone has been moved: nothing else takes one away while its journal is there. Where it
        went there may be none either, once it was merged with others.
        """
        plan: dict[str, Any] = json.loads(self.storage.read(journal))
        for path in plan["removes"]:
            self.storage.remove(path)
        for source, target in plan["moves"]:
            if self.storage.exists(source):
                self.storage.move(source, target)
        return plan

    def is_settled(self) -> bool:
        """Whether no journal is being carried out, nor was left half done by a job that was killed."""
        journals = self._journals()
        if self._compaction in journals:
            return False
        moves = json.loads(self.storage.read(max(journals)))["moves"] if journals else []
        return not any(self.storage.exists(source) for source, _ in moves)

    def _journals(self) -> list[str]:
        paths = [entry.path for entry in self.storage.files(self.work)]
        batches = [path for path in paths if path.startswith(f"{self.work}/batch-") and path.endswith(".json")]
        return batches + [path for path in paths if path == self._compaction]

    def _is_read(self) -> bool:
        """Whether a reader needs the files; one that was killed is forgotten in its time."""
        until = [entry.path.rsplit("/", 1)[1].split("-")[0] for entry in self.storage.files(self.readers)]
        return any(int(seconds) > time() for seconds in until if seconds.isdecimal())

    def _clear(self) -> None:
        """Removes what others have staged: the batch that they worked at has been put."""
        staged = self.storage.files(f"{self.work}/staging")
        for owner in {entry.path.removeprefix(f"{self.work}/staging/").split("/")[0] for entry in staged}:
            if owner != self.owner:
                self.storage.remove(f"{self.work}/staging/{owner}")

    def _stage(self, rows: DataFrame) -> list[Entry]:
        staging = f"{self._staging}/batch"
        self.storage.remove(staging)
        dated = rows.drop("view").withColumn("date", F.to_date("at"))
        dated.write.partitionBy("date").parquet(self.storage.url(staging))
        return [entry for entry in self.storage.files(staging) if entry.path.endswith(".parquet")]

    def _merge(self, entries: Sequence[Entry]) -> bool:
        """Replaces the entries by one file, unless a reader has come in the meantime. -> whether it did"""
        date = entries[0].path.rsplit("/", 2)[1]
        staging = f"{self._staging}/merged"
        self.storage.remove(staging)
        rows = self.spark.read.parquet(*[self.storage.url(entry.path) for entry in entries])
        rows.coalesce(1).sortWithinPartitions("log_offset").write.parquet(self.storage.url(f"{staging}/{date}"))
        merged = [entry for entry in self.storage.files(staging) if entry.path.endswith(".parquet")]
        # named after its newest batch: no later file can have that name
        newest = entries[-1].path.rsplit("/", 1)[1].split("-")[0]
        moves = [[entry.path, self._target(entry, f"{newest}-merged")] for entry in merged]
        self._journal(self._compaction, moves, [entry.path for entry in entries])
        # a reader who came before the journal has seen the files; one who comes after it waits
        free = not self._is_read()
        if free:
            self.carry_out(self._compaction)
        self.storage.remove(self._compaction)
        return free

    def _target(self, staged: Entry, prefix: str) -> str:
        """Where a staged file goes: its date stays, its name begins with the batch."""
        _, date, name = staged.path.rsplit("/", 2)
        return f"{self.place}/{date}/{prefix}-{name.removeprefix('part-')}"

    def _journal(self, path: str, moves: list[list[str]], removes: list[str]) -> None:
        if self.storage.exists(self._owner) and self.storage.read(self._owner) != self.owner:
            raise JobError(f"another archive job has taken over {self.storage.url(self.place)}: only one can fill it")
        self.storage.write(path, json.dumps({"moves": moves, "removes": removes}))

    def _batch(self, batch: int) -> str:
        return f"{self.work}/batch-{batch:012d}.json"


def worth_merging(entries: Sequence[Entry]) -> list[Entry]:
    """Of one date's small files those to merge, in their order: not one that is larger than all smaller ones together.

    So a file is rewritten only into one of at least twice its size, and a row a few times in its life, however small
    the batches that it comes in.

    >>> [entry.size for entry in worth_merging([Entry("a", 90), Entry("b", 2), Entry("c", 3), Entry("d", 2)])]
    [2, 3, 2]
    """
    kept = sorted(entries, key=lambda entry: entry.size)
    while len(kept) > 1 and kept[-1].size > sum(entry.size for entry in kept[:-1]):
        kept.pop()
    return sorted(kept, key=lambda entry: entry.path)
