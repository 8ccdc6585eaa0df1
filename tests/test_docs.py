"""What the documents point to is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
_COMMAND = re.compile(r"python -m ([a-z_]+(?:\.[a-z_]+)*)\b(?!\.[A-Z])")
_TARGET = re.compile(r"`make ([a-z]+)")


def documents() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / name for name in listed.stdout.split()]


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_modules_and_make_targets_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert [link for link, _ in _LINK.findall(text) if not (document.parent / link).exists()] == []
    assert [name for name in _COMMAND.findall(text) if not _is_module(name)] == []
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(_TARGET.findall(text)) <= targets


def _is_module(name: str) -> bool:
    place = ROOT.joinpath(*name.split("."))
    return name in ("pip", "pytest", "venv") or place.with_suffix(".py").exists() or (place / "__main__.py").exists()
