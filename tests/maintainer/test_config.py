"""What the maintainer is told, where it makes no sense."""

from __future__ import annotations

import pytest

from maintainer.__main__ import main
from skyline.errors import InvalidInput


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--checkpoint-seconds", "-1"], "--checkpoint-seconds must be 0 or more, got -1.0"),
        (["--checkpoint-seconds", "nan"], "--checkpoint-seconds must be 0 or more, got nan"),
        (["--session-timeout-ms", "0"], "--session-timeout-ms must be more than 0, got 0"),
        (["--log-level", "LOUD"], "--log-level must be one of DEBUG, INFO, WARNING, ERROR, got 'LOUD'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(flags: list[str], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        main(flags)
