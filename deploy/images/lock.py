"""`python -m deploy.images.lock`: the images' lock files, as the parts of requirements.lock that each image needs.

What a package needs is asked of the packages that are installed here, which `make setup` took from the same lock file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import requires
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parent.parent.parent
HOME: Final = Path(__file__).parent

LEFT_OUT: Final = {
    "services": ("pyspark", "plotly"),
    "spark": ("fastapi", "uvicorn", "rtree"),
}
"""Image -> dependencies of the project that nothing in it uses: Spark alone is 430 MB."""

ADDED: Final = {"services": (), "spark": ("pandas",)}
"""Image -> packages that it needs beyond the project's dependencies: Spark hands rows to Python as pandas frames."""


def subset(image: str) -> str:
    """The entries of requirements.lock, hashes and all, that the image needs."""
    wanted = _closure([*_direct(image), *ADDED[image]])
    entries = _entries((ROOT / "requirements.lock").read_text())
    return "".join(entries[name] for name in sorted(wanted))


def _direct(image: str) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [canonicalize_name(Requirement(line).name) for line in project["dependencies"]]
    return [name for name in names if name not in LEFT_OUT[image]]


def _closure(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for line in requires(name) or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(canonicalize_name(needed.name))
    return found


def _entries(lock: str) -> dict[str, str]:
    """Package -> its lines in the lock file; a package may have several entries, for several versions of Python."""
    found: dict[str, str] = {}
    for part in re.split(r"^(?=[A-Za-z0-9])", lock, flags=re.MULTILINE):
        if part.strip():
            name = canonicalize_name(re.split(r"[=\[ ;]", part, maxsplit=1)[0])
            found[name] = found.get(name, "") + part
    return found


def main() -> None:
    for image in LEFT_OUT:
        text = subset(image)
        (HOME / f"{image}.lock").write_text(text)
        print(f"{image}.lock: {', '.join(sorted(_entries(text)))}")


if __name__ == "__main__":
    main()
