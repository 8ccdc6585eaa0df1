"""What a run of files tells people."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from ingest.check import Refused
from ingest.files.report import Report
from ingest.startup import new_metrics
from skyline.errors import InvalidInput
from skyline.wire.rejects import Rejected

ROW = Refused(3, b"\xff", None, Rejected("bad_key", "the key is not UTF-8"))


def test_refused_rows_are_told_above_the_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    report = Report("hotels", new_metrics())
    bar = io.StringIO()  # a bar on a terminal takes the place of stderr after the report was made
    monkeypatch.setattr(sys, "stderr", bar)
    report.refuse(Path("f.csv"), [ROW])
    assert bar.getvalue() == "f.csv:3: bad_key: the key is not UTF-8\n"


def test_the_summary_counts_what_was_sent_and_refused() -> None:
    report = Report("hotels", new_metrics())
    report.count(2000)
    assert report.summary("t").startswith("sent 2,000 updates to t in ")
    report.refuse(Path("f.csv"), [ROW] * 3)
    assert report.summary("t", "interrupted").endswith("; refused 3: bad_key 3; interrupted")


def test_refused_rows_that_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"--rejects .* cannot be written: "):
        Report("hotels", new_metrics(), tmp_path / "no" / "such" / "place")


def test_refused_rows_are_kept_as_they_come(tmp_path: Path) -> None:
    """A run that is killed has gone past them."""
    report = Report("hotels", new_metrics(), tmp_path / "rejects")
    report.refuse(Path("f.csv"), [ROW, ROW])
    assert (tmp_path / "rejects").read_bytes().count(b"\n") == 2
    report.close()


def test_a_full_disk_is_one_line() -> None:
    report = Report("hotels", new_metrics(), Path("/dev/full"))
    with pytest.raises(InvalidInput, match="--rejects /dev/full cannot be written: No space left on device"):
        report.refuse(Path("f.csv"), [ROW])
    report.close()
