"""Files wherever Hadoop's file systems reach (local, HDFS, object stores): list, move, remove, small texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Entry:
    """One file: its path below the storage's root, and its size."""

    path: str
    size: int


class Storage:
    """The files below `root`; paths are relative to it. Every call of Java costs some 0.2 ms: lists are kept short."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._jvm: Any = spark._jvm
        configuration = spark._jsc.hadoopConfiguration()
        self._root = self._jvm.org.apache.hadoop.fs.Path(root)
        self._files = self._root.getFileSystem(configuration)
        self._root = self._files.makeQualified(self._root)
        self._prefix = f"{self.url().rstrip('/')}/"

    def url(self, path: str = "") -> str:
        """The path as Spark takes it."""
        return str(self._at(path).toString())

    def exists(self, path: str) -> bool:
        return bool(self._files.exists(self._at(path)))

    def files(self, path: str) -> list[Entry]:
        """Every file below `path`, at any depth, in order of its path; none if there is no such directory."""
        if not self.exists(path):
            return []
        found: list[Entry] = []
        remaining = self._files.listFiles(self._at(path), True)
        while remaining.hasNext():
            status = remaining.next()
            found.append(Entry(self._relative(status.getPath()), int(status.getLen())))
        return sorted(found, key=lambda entry: entry.path)

    def remove(self, path: str) -> None:
        """Removes a file, or a directory with all in it; no error where there is none."""
        self._files.delete(self._at(path), True)

    def move(self, source: str, target: str) -> None:
        """Moves a file, and makes the directory that it goes to. No error if somebody else has just moved it there."""
        destination = self._at(target)
        self._files.mkdirs(destination.getParent())
        try:
            moved = self._files.rename(self._at(source), destination)
        except Py4JJavaError:
            moved = False
        if not moved and (self.exists(source) or not self.exists(target)):
            raise OSError(f"{self.url(source)} could not be moved to {self.url(target)}")

    def read(self, path: str) -> str:
        stream = self._files.open(self._at(path))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, path: str, text: str) -> None:
        """Writes a small file so that it is there whole or not at all."""
        unfinished = f"{path}.unfinished"
        stream = self._files.create(self._at(unfinished), True)
        stream.write(bytearray(text.encode()))
        stream.close()
        self.remove(path)
        self.move(unfinished, path)

    def _at(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, path) if path else self._root

    def _relative(self, path: Any) -> str:
        return str(path.toString()).removeprefix(self._prefix)
