"""The R*-tree of libspatialindex, with the node access that the papers' searches need.

`rtree` answers window and nearest-neighbour queries, but does not show its nodes. It does, however, hand every page
it writes to a custom storage. Here the storage reads each page once into flat arrays, and all searches run there; the
tree itself (choice of subtree, forced reinsertion, split, condensation) is libspatialindex's own.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from rtree import index

from skyline.errors import InvalidInput
from skyline.live.blocktree import Blocks, entries
from skyline.live.rtree_index_kernels import read_pages
from skyline.view import Floats, Ints

CAPACITY: Final = 20
FILL: Final = 0.4
"""Entries per node at most, and the share of them that it has at least. Measured at 100,000 moving objects, 5-D and
2-D, these move the most objects per second: 10 times as many as the paper's pages of 4 KB (93 entries) with the
library's minimum of 0.7, which makes most deletions dissolve a node. The R*-tree's authors chose 0.4, too."""

_ALL_PAGES: Final = 2**31 - 1
_KEPT_ROWS: Final = 16


def check_options(capacity: int, fill: float) -> None:
    """Refuses node capacities and fill factors that make no R*-tree.

    Packing puts capacity * fill entries into a node: with fewer than two, it would never come to a root.
    """
    if not isinstance(capacity, int) or isinstance(capacity, bool) or not 4 <= capacity <= 1024:
        raise InvalidInput(f"capacity, the number of entries per node, must be 4 to 1024, got {capacity!r}")
    if not isinstance(fill, int | float) or not 0.1 <= fill <= 0.7:
        raise InvalidInput(f"fill, the least share of a node in use, must be 0.1 to 0.7, got {fill!r}")
    if int(capacity * fill) < 2:
        raise InvalidInput(f"capacity * fill must be at least 2 entries, got {capacity} * {fill}")


class RStarTree:
    """An R*-tree over slots at places (d,), d >= 2. Updates O(log n) pages; `blocks` O(pages written since)."""

    def __init__(
        self,
        dimensions: int,
        slots: Ints | None = None,
        places: Floats | None = None,
        *,
        capacity: int = CAPACITY,
        fill: float = FILL,
    ) -> None:
        """An empty tree, or one packed from (n,) `slots` at (n, d) `places`."""
        self._pages = _Pages(dimensions, capacity)
        settings = index.Property(
            dimension=dimensions,
            variant=index.RT_Star,
            leaf_capacity=capacity,
            index_capacity=capacity,
            near_minimum_overlap_factor=min(32, capacity - 1),
            fill_factor=fill,
            # The library's own buffer keeps every page, and hands every write on: it never reads from the storage.
            buffering_capacity=_ALL_PAGES,
            writethrough=True,
        )
        self._size = 0 if slots is None else len(slots)
        if slots is None or places is None or not len(slots):
            self._tree = index.Index(self._pages, properties=settings)
        else:
            boxes = np.concatenate([places, places], axis=1).tolist()
            items = ((slot, box, None) for slot, box in zip(slots.tolist(), boxes, strict=True))
            self._tree = index.Index(self._pages, items, properties=settings)
        # A page keeps being the root while the tree grows and shrinks, but only the header, written now, names it.
        self._tree.flush()
        self._root = self._pages.take_header()

    def insert(self, slot: int, place: Floats) -> None:
        """Adds a slot at a place (d,)."""
        corner = place.tolist()
        self._tree.insert(slot, corner + corner)
        self._size += 1

    def delete(self, slot: int, place: Floats) -> None:
        """Removes a slot from the place (d,) that it was added at."""
        corner = place.tolist()
        writes = self._pages.writes
        self._tree.delete(slot, corner + corner)
        if self._pages.writes == writes:  # the library does not say so when it finds nothing
            raise KeyError(slot)
        self._size -= 1

    def blocks(self) -> Blocks:
        """The tree as it is now, to be searched before the next insertion or deletion."""
        pages = self._pages
        pages.read()
        return Blocks(self._root, pages.leaf, pages.used, pages.next, pages.ids, pages.low, pages.high)

    def slots(self) -> set[int]:
        """All slots in the tree. O(n)."""
        return {slot for slot, _ in entries(self.blocks())}

    def __len__(self) -> int:
        return self._size

    def _check(self) -> None:
        """Asserts that the arrays hold what libspatialindex does, in tight boxes under the same root. O(n log n)."""
        self._tree.flush()
        assert self._pages.take_header() == self._root
        found = entries(self.blocks())
        assert len(found) == self._size == len(self.slots())
        for slot, place in found:
            assert slot in self._tree.intersection(place.tolist() * 2)


class _Pages(index.CustomStorage):  # type: ignore[misc]
    """Receives the pages of one tree; a page is a block. The callbacks' names and signatures are rtree's."""

    def __init__(self, dimensions: int, capacity: int) -> None:
        self._free: list[int] = []
        self._end = 0
        self._written: dict[int, bytes] = {}
        self._last = -1
        self.writes = 0
        self.leaf = np.zeros(0, np.bool_)
        self.used = np.zeros(0, np.int64)
        self.next = np.zeros(0, np.int64)
        self.ids = np.zeros((0, capacity), np.int64)
        self.low = np.zeros((0, capacity, dimensions))
        self.high = np.zeros((0, capacity, dimensions))

    def take_header(self) -> int:
        """The root's page, as named by the page written last, which a flush makes the header; forgets that page."""
        header = self._written.pop(self._last)
        return int(np.frombuffer(header, np.int64, 1)[0])

    def read(self) -> None:
        """Reads the pages written since the last call into the arrays. O(their size)."""
        if not self._written:
            return
        if self._end > len(self.leaf):
            self._grow(max(self._end, 2 * len(self.leaf), _KEPT_ROWS))
        pages = np.fromiter(self._written, np.int64, len(self._written))
        sizes = np.fromiter(map(len, self._written.values()), np.int64, len(pages))
        words = np.frombuffer(b"".join(self._written.values()), np.uint32)
        starts = (np.cumsum(sizes) - sizes) // 4
        self._written.clear()
        read_pages(
            words,
            starts,
            pages,
            self.leaf,
            self.used,
            _words(self.ids[:, :, None]),
            _words(self.low),
            _words(self.high),
        )

    def _grow(self, length: int) -> None:
        for name in ("leaf", "used", "next", "ids", "low", "high"):
            old = getattr(self, name)
            new = np.full((length, *old.shape[1:]), -1 if name == "next" else 0, old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)

    def create(self, error: Any) -> None:
        """Called when the tree is created; there is nothing to prepare."""

    def destroy(self, error: Any) -> None:
        """Called when the tree is gone; the arrays go with this object."""

    def flush(self, error: Any) -> None:
        """Called when all pages have been written; none is held back."""

    def loadByteArray(self, page: int, error: Any) -> bytes:  # noqa: ARG002
        """Refused: the library's buffer keeps every page, so it never needs to read one."""
        error.contents.value = self.IllegalStateError
        return b""

    def storeByteArray(self, page: int, data: bytes, error: Any) -> int:  # noqa: ARG002
        if page == self.NewPage:
            if self._free:
                page = self._free.pop()
            else:
                page = self._end
                self._end += 1
        self._written[page] = data
        self._last = page
        self.writes += 1
        return page

    def deleteByteArray(self, page: int, error: Any) -> None:  # noqa: ARG002
        self._written.pop(page, None)
        self._free.append(page)


def _words(array: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    return array.view(np.uint32)
