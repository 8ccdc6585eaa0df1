"""The file of a checkpoint: either whole, or refused.

Layout: magic, SHA-256 of the rest, length of the header, header (JSON: scalars, and name, type and shape of every
array), then the arrays' bytes in that order. A list of bytes becomes two arrays: all bytes, and their bounds.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from skyline.errors import SkylineError

_MAGIC: Final = b"skyline checkpoint 1\n"
_DIGEST: Final = hashlib.sha256().digest_size

State = dict[str, Any]


class CheckpointDamaged(SkylineError):
    """A checkpoint file is torn, or its checksum does not match."""


def write(file: Path, state: State) -> None:
    """Writes the state and flushes it to disk. O(size), without a second copy of the arrays."""
    digest = hashlib.sha256()
    with file.open("wb") as out:
        out.write(_MAGIC + bytes(_DIGEST))
        for part in _encode(state):
            digest.update(part)
            out.write(part)
        out.seek(len(_MAGIC))
        out.write(digest.digest())
        out.flush()
        os.fsync(out.fileno())


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


def _encode(state: State) -> Iterator[bytes | memoryview]:
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
        yield array.reshape(-1).view(np.uint8).data


def _decode(body: memoryview) -> State:
    length = int.from_bytes(body[:8], "little")
    header = orjson.loads(body[8 : 8 + length])
    state: State = dict(header["scalars"])
    place = 8 + length
    for name, kind, shape in header["arrays"]:
        dtype = np.dtype(kind)
        size = dtype.itemsize * int(np.prod(shape))
        state[name] = np.frombuffer(body[place : place + size], dtype=dtype).reshape(shape).copy()
        place += size
    for name in [name.removesuffix("/bounds") for name in state if name.endswith("/bounds")]:
        blob, bounds = state.pop(f"{name}/bytes").tobytes(), state.pop(f"{name}/bounds").tolist()
        state[name] = [blob[start:past] for start, past in pairwise(bounds)]
    return state
