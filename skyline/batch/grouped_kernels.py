# mypy: ignore-errors
"""Rows by group. Kernels of grouped.py."""

from numba import njit


@njit(cache=True, nogil=True)
def group_rows(codes, starts, rows):
    """Counting sort: `rows` (n,) by group, ascending within; those of group g at starts[g] to starts[g + 1].

    codes (n,) from 0 to groups - 1; starts (groups + 2,) zero on entry, of which the last is scratch. O(n + groups)
    """
    for code in codes:
        starts[code + 2] += 1
    for group in range(2, len(starts)):
        starts[group] += starts[group - 1]
    for row in range(len(codes)):
        code = codes[row]
        rows[starts[code + 1]] = row
        starts[code + 1] += 1
