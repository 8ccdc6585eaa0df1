"""Why a record could not be applied, and how that is told on V.rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

REASONS: Final = {
    "bad_key": "the key is missing, too long, not UTF-8 or reserved",
    "too_large": "the value is larger than an update may be, or a patch would make its object too large",
    "bad_json": "the value is not JSON",
    "not_an_object": "the value is JSON, but not an object",
    "missing_field": "a dimension or group field is missing",
    "bad_value": "a field has a value of the wrong kind or range",
    "bad_interval": "valid_from or valid_until cannot be read, or the interval is empty",
    "bad_op": "$op is unknown, or does not fit this view",
    "unknown_object": "a modification names an object that is not there",
}
"""Every reason there is, with its meaning; `reason` of a reject is one of these keys."""


MAX_REJECT_BYTES: Final = 15 * 2**20
"""Key and value of a reject, together. A larger record came compressed, or the topics' limits differ: it is cut, so
that one record that nobody can use does not stop the view."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """One refused record: a reason from REASONS and a message for the person who sent it."""

    reason: str
    message: str

    def headers(self, topic: str, partition: int, offset: int) -> list[tuple[str, bytes]]:
        """Headers of the record on V.rejected; its key and value are those of the refused record."""
        return [
            ("reason", self.reason.encode()),
            ("message", self.message.encode()),
            ("topic", topic.encode()),
            ("partition", str(partition).encode()),
            ("offset", str(offset).encode()),
        ]


def cut_to_fit(
    key: bytes | None, value: bytes | None, limit: int = MAX_REJECT_BYTES
) -> tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]:
    """(key, value, headers): the record as it came, or its beginning and a header `cut` with the sizes it had."""
    sizes = len(key or b""), len(value or b"")
    if sum(sizes) <= limit:
        return key, value, []
    key = None if key is None else key[: limit // 2]
    value = None if value is None else value[: limit - len(key or b"")]
    return key, value, [("cut", b"key %d, value %d bytes" % sizes)]
