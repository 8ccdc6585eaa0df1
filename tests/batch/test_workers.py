"""Tasks on threads: results in order, errors handed on, no thread left behind, and no thread where one will do."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from skyline import skyline_of
from skyline.batch.workers import Workers, ranges


def test_results_come_in_the_order_of_the_tasks():
    gate = threading.Event()

    def work(task: int) -> int:
        if task == 0:
            gate.wait(10)
        else:
            gate.set()
        return task * task

    with Workers(2) as workers:
        assert workers.map(work, range(5)) == [0, 1, 4, 9, 16]


@pytest.mark.parametrize(("threads", "tasks"), [(1, 5), (4, 1), (4, 0)])
def test_one_thread_or_one_task_runs_here(threads, tasks):
    with Workers(threads) as workers:
        assert workers.map(lambda _: threading.current_thread(), range(tasks)) == [threading.current_thread()] * tasks


def test_an_error_reaches_the_caller_and_the_threads_end():
    def work(task: int) -> float:
        return 1 / task

    with pytest.raises(ZeroDivisionError), Workers(2) as workers:
        workers.map(work, [1, 0, 2])
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("skyline-batch")]


def test_ranges_cover_everything_once():
    parts = ranges(3, 20, 6)
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(3, 20))
    assert ranges(4, 4, 6) == []


def test_many_callers_at_once_get_the_same_answer():
    points = np.random.default_rng(1).random((60_000, 4))
    expected = skyline_of(points, threads=1).tolist()
    with ThreadPoolExecutor(6) as callers:
        answers = list(callers.map(lambda _: skyline_of(points).tolist(), range(12)))
    assert answers == [expected] * 12


FORKING = """
import os, numpy, skyline
points = numpy.random.default_rng(2).random((60_000, 4))
expected = skyline.skyline_of(points, threads=2).tolist()
child = os.fork()
if child == 0:
    os._exit(0 if skyline.skyline_of(points, threads=2).tolist() == expected else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_may_compute_after_its_parent_did():
    """Spark forks its Python workers from a parent that may have used threads."""
    assert subprocess.run([sys.executable, "-c", FORKING], timeout=300, check=False).returncode == 0
