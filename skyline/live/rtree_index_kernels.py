# mypy: ignore-errors
"""Reading the pages that libspatialindex writes."""

from __future__ import annotations

from numba import njit

_HEADER = 3
"""32-bit words before the first entry: kind of node, level (0 is a leaf), number of entries."""
_TRAILER = 3
"""32-bit words after the box of an entry: its id (two words) and the length of its data, which is always 0 here."""


@njit(cache=True)
def read_pages(words, starts, pages, leaf, used, ids, low, high):
    """Copies the entries of pages from the words they were written as into the arrays of a tree of blocks.

    Page i of `pages` begins at words[starts[i]]. ids, low and high are seen as 32-bit words: (b, c, 2) and (b, c, 2d).
    Doubles lie at odd places in a page, so words are copied and nothing is converted. O(words).
    """
    width = low.shape[2]
    for i in range(len(pages)):
        page, start = pages[i], starts[i]
        leaf[page] = words[start + 1] == 0
        used[page] = words[start + 2]
        word = start + _HEADER
        for e in range(used[page]):
            for k in range(width):
                low[page, e, k] = words[word + k]
                high[page, e, k] = words[word + width + k]
            word += 2 * width
            ids[page, e, 0] = words[word]
            ids[page, e, 1] = words[word + 1]
            word += _TRAILER
