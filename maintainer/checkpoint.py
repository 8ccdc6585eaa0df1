"""Checkpoints: the state of a view at one offset, in one file that is either whole or refused.

Layout: magic, SHA-256 of the rest, length of the header, header (JSON: scalars, and name, type and shape of every
array), then the arrays' bytes in that order. Written beside its place, flushed to disk, renamed: a crash leaves the
older ones. Two are kept, in case the newest is damaged later.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from skyline.errors import SkylineError
from skyline.view import View

_MAGIC: Final = b"skyline checkpoint 1\n"
_DIGEST: Final = hashlib.sha256().digest_size
_KEPT: Final = 2
_log = logging.getLogger("maintainer.checkpoint")

State = dict[str, Any]


class CheckpointDamaged(SkylineError):
    """A checkpoint file is torn, or its checksum does not match."""


class ViewChanged(SkylineError):
    """The checkpoint was written under another definition of the view."""


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The checkpoints of one view in one directory."""

    directory: Path
    view: View

    def write(self, state: State) -> int:
        """Writes the state that stands at `state["position"]`, drops the oldest, gives the size in bytes."""
        self.directory.mkdir(parents=True, exist_ok=True)
        body = b"".join(_encode({**state, "definition": definition(self.view)}))
        place = self.directory / f"{self.view.name}.{state['position']:020d}.checkpoint"
        unfinished = place.with_suffix(f".{os.getpid()}.unfinished")
        with unfinished.open("wb") as file:
            file.write(_MAGIC + hashlib.sha256(body).digest())
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(place)
        _sync_directory(self.directory)
        for old in self._files()[_KEPT:]:
            old.unlink(missing_ok=True)
        return place.stat().st_size

    def newest(self, limit: int) -> State | None:
        """The newest whole checkpoint at or below offset `limit`, or None; damaged ones get a warning."""
        for file in self._files():
            if _position(file) > limit:
                _log.warning("%s is ahead of the committed offset %d: not used", file, limit)
                continue
            try:
                state = read(file)
            except CheckpointDamaged as error:
                _log.warning("%s; the one before, or the log, is used", error)
                continue
            if state.pop("definition") != definition(self.view):
                raise ViewChanged(
                    f"view {self.view.name!r} is defined otherwise than when {file} was written: its change log would "
                    f"not fit; give the changed view a new name, or restore its definition"
                )
            return state
        return None

    def _files(self) -> list[Path]:
        return sorted(self.directory.glob(f"{self.view.name}.*.checkpoint"), key=_position, reverse=True)


def definition(view: View) -> str:
    """What must not change between checkpoint and recovery. The engine may: all engines share one state."""
    dimensions = dict(zip(view.dimensions.names, view.dimensions.directions, strict=True))
    window = None if view.window is None else [view.window.size, view.window.span, list(view.window.watch)]
    parts = [dimensions, list(view.group_by), list(view.carry), window, view.coalesce]
    return orjson.dumps(parts).decode()


def read(file: Path) -> State:
    """The state in the file. Raises CheckpointDamaged unless every byte is as written."""
    content = file.read_bytes()
    start = len(_MAGIC) + _DIGEST
    if not content.startswith(_MAGIC) or len(content) < start:
        raise CheckpointDamaged(f"{file} is not a checkpoint")
    body = memoryview(content)[start:]
    if hashlib.sha256(body).digest() != content[len(_MAGIC) : start]:
        raise CheckpointDamaged(f"{file} is torn or damaged: its checksum does not match")
    return _decode(body)


def _encode(state: State) -> Iterator[bytes]:
    scalars: State = {}
    arrays: list[tuple[str, np.ndarray[Any, Any]]] = []
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            arrays.append((name, np.ascontiguousarray(value)))
        elif isinstance(value, list):
            arrays.append((f"{name}/bytes", np.frombuffer(b"".join(value), dtype=np.uint8)))
            arrays.append((f"{name}/bounds", np.cumsum([0, *map(len, value)], dtype=np.int64)))
        else:
            scalars[name] = value
    listing = [[name, array.dtype.str, list(array.shape)] for name, array in arrays]
    header = orjson.dumps({"scalars": scalars, "arrays": listing}, option=orjson.OPT_SERIALIZE_NUMPY)
    yield len(header).to_bytes(8, "little")
    yield header
    for _, array in arrays:
        yield array.tobytes()


def _decode(body: memoryview) -> State:
    length = int.from_bytes(body[:8], "little")
    header = orjson.loads(body[8 : 8 + length])
    state: State = dict(header["scalars"])
    place = 8 + length
    for name, kind, shape in header["arrays"]:
        dtype = np.dtype(kind)
        size = dtype.itemsize * int(np.prod(shape))
        array = np.frombuffer(body[place : place + size], dtype=dtype).reshape(shape).copy()
        place += size
        state[name] = array
    for name in [name.removesuffix("/bounds") for name in state if name.endswith("/bounds")]:
        blob, bounds = state.pop(f"{name}/bytes").tobytes(), state.pop(f"{name}/bounds").tolist()
        state[name] = [blob[start:past] for start, past in pairwise(bounds)]
    return state


def _position(file: Path) -> int:
    return int(file.name.rsplit(".", 2)[1])


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
