"""Batches of records: cut and joined, they stay what they were."""

from __future__ import annotations

import pytest

from skyline.wire.records import Records

ROWS: list[tuple[bytes | None, bytes | None, int, int]] = [
    (b"a", b"{}", 5, 0), (None, None, 6, 1), (b"", b"", 7, 3), ("ключ".encode(), b'{"x":1}', 2, 9), (b"b", None, 3, 10),
]  # fmt: skip


def rows_of(records: Records) -> list[tuple[bytes | None, bytes | None, int, int]]:
    columns = zip(records.timestamps.tolist(), records.offsets.tolist(), strict=True)
    return [(records.key(row), records.value(row), at, offset) for row, (at, offset) in enumerate(columns)]


@pytest.mark.parametrize("cuts", [(5,), (0, 5), (2, 5), (1, 2, 2, 4, 5), (0, 1, 2, 3, 4, 5)])
def test_joined_slices_are_the_whole(cuts: tuple[int, ...]) -> None:
    whole = Records.of(ROWS)
    starts = (0, *cuts)
    parts = [whole.slice(start, stop) for start, stop in zip(starts, cuts, strict=False)]
    joined = Records.joined(parts)
    assert rows_of(joined) == ROWS
    assert len(joined) == len(ROWS)
