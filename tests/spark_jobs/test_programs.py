"""The jobs as programs: by themselves, and under spark-submit with the library as a zip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.spark

OFFERS = {"id": [1, 2, 3, 4], "price": [5.0, 4.0, 6.0, 4.0], "rating": [3, 2, 3, 2]}


def test_an_error_is_one_line(repository: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table(OFFERS | {"price": [5.0, None, 6.0, 4.0]}), tmp_path / "offers.parquet")
    command = [sys.executable, "-m", "spark_jobs.bulk_skyline", str(tmp_path / "offers.parquet"), "--min", "price"]
    ended = subprocess.run(
        [*command, "--master", "local[1]"], cwd=repository, capture_output=True, text=True, timeout=560, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    progress = ("WARNING: Using incubator modules", "sampling")
    said = [line for line in ended.stderr.splitlines() if not line.startswith(progress)]
    assert len(said) == 1
    assert said[0].startswith("error: a row with price=null: one of these is null or NaN")


def test_under_spark_submit_with_the_library_as_a_zip(repository: Path, tmp_path: Path) -> None:
    """Nothing of the clone is where the program runs: what it imports comes from the zip."""
    with ZipFile(tmp_path / "library.zip", "w") as library:
        for package in ("skyline", "spark_jobs"):
            for file in (repository / package).rglob("*.py"):
                library.write(file, file.relative_to(repository))
    program = tmp_path / "job.py"
    program.write_text(
        "import sys, spark_jobs.bulk_local as ours\n"
        "from spark_jobs import cli\n"
        "from spark_jobs.bulk_skyline import main\n"
        "from spark_jobs.kafka import Kafka, Topics\n"
        "from spark_jobs.session import open_session\n"
        "assert 'library.zip' in ours.__file__, ours.__file__\n"
        "try:\n"
        "    Topics(open_session('job'), Kafka('127.0.0.1:1'))\n"
        "except cli.JobError as error:\n"
        "    print(error)\n"
        "cli.run(main)\n"
    )
    pq.write_table(pa.table(OFFERS), tmp_path / "offers.parquet")
    submit = [str(Path(sys.executable).with_name("spark-submit")), "--master", "local[1]"]
    submit += ["--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false"]
    options = ["--min", "price", "--max", "rating", "--out", str(tmp_path / "out")]
    ended = subprocess.run(
        [*submit, "--py-files", str(tmp_path / "library.zip"), str(program), "offers.parquet", *options],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=560,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Spark's Kafka connector is not on the class path: start spark-submit with --packages" in ended.stdout
    assert sorted(pq.read_table(tmp_path / "out")["id"].to_pylist()) == [1, 2, 4]
