"""Why a record could not be applied, and how that is told on V.rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

REASONS: Final = {
    "bad_key": "the key is missing, too long, not UTF-8 or reserved",
    "too_large": "the value is larger than an update may be",
    "bad_json": "the value is not JSON",
    "not_an_object": "the value is JSON, but not an object",
    "missing_field": "a dimension or group field is missing",
    "bad_value": "a field has a value of the wrong kind or range",
    "bad_interval": "valid_from or valid_until cannot be read, or the interval is empty",
    "bad_op": "$op is unknown, or does not fit this view",
    "unknown_object": "a modification names an object that is not there",
}
"""Every reason there is, with its meaning; `reason` of a reject is one of these keys."""


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
