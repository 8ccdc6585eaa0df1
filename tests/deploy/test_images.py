"""The images' steps, executed here: no Docker engine is needed to know that they would work.

An empty virtual environment is given the packages of the image's lock file and no others; the directories that the
Dockerfile copies are copied; then its entry point starts every service far enough to read its configuration.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from deploy.images import lock
from deploy.local.services import SERVICES
from tests.deploy.processes import ROOT

DOCKERFILE = (ROOT / "deploy/images/Dockerfile").read_text()


def _stages() -> dict[str, str]:
    """Name of each stage -> its lines, those of the stage that it starts from included."""
    stages: dict[str, str] = {}
    for part in re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]:
        head, body = part.split("\n", 1)
        origin, _, name = head.partition(" AS ")
        stages[name.strip()] = stages.get(origin, "") + body
    return stages


@pytest.mark.parametrize("image", lock.LEFT_OUT)
def test_the_lock_file_is_the_part_of_the_projects_that_the_image_needs(image: str) -> None:
    assert (lock.HOME / f"{image}.lock").read_text() == lock.subset(image), "run python -m deploy.images.lock"
    assert "--hash=sha256:" in lock.subset(image)


def test_base_images_are_pinned() -> None:
    stages = _stages()
    for origin in re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE):
        assert origin in stages or re.fullmatch(r"python:3\.\d+\.\d+-slim-bookworm", origin)


@pytest.mark.parametrize("image", ["services", "spark"])
def test_images_end_as_another_user_and_hold_only_what_exists(image: str) -> None:
    lines = _stages()[image]
    assert lines.strip().splitlines()[-1] == "USER skyline"
    assert "useradd --uid 10001" in lines
    for source in re.findall(r"^COPY (?!--from)(\S+) \S+$", lines, re.MULTILINE):
        assert (ROOT / source).exists(), source
    for module in re.findall(r"python -m (deploy\.\S+)", lines):
        assert (ROOT / (module.replace(".", "/") + ".py")).is_file()


def test_what_is_copied_is_let_into_the_build() -> None:
    admitted = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"}
    for source in re.findall(r"^COPY (?!--from)(\S+) ", DOCKERFILE, re.MULTILINE):
        assert source.split("/")[0] in admitted


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build("services", tmp_path_factory.mktemp("services"))


def _build(image: str, home: Path) -> Path:
    """A directory that looks like the image: its virtual environment in opt, its code in app."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "opt"], check=True)
    packages = next((home / "opt" / "lib").glob("python3.*")) / "site-packages"
    for line in re.findall(r"^[a-z0-9].*", (lock.HOME / f"{image}.lock").read_text(), re.MULTILINE):
        wanted = Requirement(line.rstrip("\\ "))
        if wanted.marker is None or wanted.marker.evaluate():
            _link(wanted, packages)
    for source in re.findall(r"^COPY (?!--from)(\w+) \w+$", _stages()[image], re.MULTILINE):
        shutil.copytree(ROOT / source, home / "app" / source, ignore=shutil.ignore_patterns("__pycache__"))
    return home


def _run(home: Path, code: str) -> None:
    """Runs the code with the image's Python, code and packages, and nothing else."""
    environment = {"PYTHONPATH": str(home / "app"), "PATH": "/bin", "NUMBA_CACHE_DIR": str(home / "numba")}
    program = [home / "opt/bin/python", "-c", code]
    result = subprocess.run(program, capture_output=True, text=True, check=False, env=environment, cwd=home / "app")
    assert result.returncode == 0, result.stderr


def _link(wanted: Requirement, packages: Path) -> None:
    """Links the package from the environment that runs the tests, which pip filled from the same lock file."""
    installed = distribution(wanted.name)
    assert wanted.specifier.contains(installed.version)
    for name in {file.parts[0] for file in installed.files or [] if file.parts[0] not in ("..", "__pycache__")}:
        (packages / name).symlink_to(Path(str(installed.locate_file(name))).resolve())


@pytest.mark.parametrize(
    "command", [*(service.command[:2] for service in SERVICES if service.name != "archive"), ("deploy.cli", "topics")]
)
def test_the_entry_point_starts_each_service(command: tuple[str, ...], image: Path, tmp_path: Path) -> None:
    warm = tmp_path / "warm"
    (warm / "kernels").mkdir(parents=True)
    environment = {
        "PATH": f"{image / 'opt/bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(image / "app"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SKYLINE_WARM": str(warm),
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
    }
    entry = image / "app/deploy/images/entry.sh"
    result = subprocess.run(
        [entry, *command, "--help"], capture_output=True, text=True, check=False, env=environment, cwd=image / "app"
    )
    assert result.returncode == 0, result.stderr
    assert "--bootstrap" in result.stdout
    assert (tmp_path / "numba" / "kernels").is_dir()


def test_everything_that_services_import_is_in_the_image(image: Path) -> None:
    """The modules that start late, too: servers, engines, readers of files."""
    _run(
        image,
        "import ingest.http.main, ingest.files.main, ingest.generate, ingest.ticker, maintainer.service, query.__main__"
        ", skyline, skyline.live.esc, skyline.live.lookout, deploy.cli.up, deploy.cli.demo, deploy.images.warm",
    )


def test_everything_that_jobs_import_is_in_the_image(tmp_path: Path) -> None:
    jobs = [f"spark_jobs.{path.stem}" for path in sorted((ROOT / "spark_jobs").glob("*.py")) if path.stem[0] != "_"]
    _run(_build("spark", tmp_path), f"import deploy.images.connector, {', '.join(jobs)}")


def test_kernels_are_compiled_for_a_kind_of_processor(tmp_path: Path) -> None:
    """Compiling all takes a minute; with one it is seen that what is cached says nothing of this processor."""
    code = (
        "import numpy as np; from skyline.dominance_kernels import dominates; "
        "dominates(np.zeros((1, 2)), 0, np.ones((1, 2)), 0); "
        "print(*dominates.targetctx.codegen().magic_tuple()[1:], sep='|')"
    )
    told = dict(re.findall(r"(NUMBA_CPU_\w+)=(\S+)", _stages()["services"]))
    cpu = re.search(r"^ARG CPU=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert cpu is not None
    assert told == {"NUMBA_CPU_NAME": "$CPU", "NUMBA_CPU_FEATURES": '""'}
    kind = cpu[1] if os.uname().machine == "x86_64" else "generic"
    environment = {**os.environ, "NUMBA_CPU_NAME": kind, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, cwd=ROOT, capture_output=True, text=True
    ).stdout
    assert said == f"{kind}|\n"
    assert list(tmp_path.rglob("*.nbc"))
