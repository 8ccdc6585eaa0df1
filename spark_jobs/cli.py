"""What the jobs' command lines share: options, views, and errors of one line.

Exit codes: 0 done; 1 the audit found differences; 2 the job could not be done, and the line on stderr says why.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger

from skyline.errors import InvalidInput, SkylineError
from skyline.view import View, views_of

DONE: Final = 0
DIFFERENT: Final = 1
FAILED: Final = 2
INTERRUPTED: Final = 130

_LONGEST_MESSAGE: Final = 500


class JobError(SkylineError):
    """The job cannot be done; the message says why and what to do."""


def parser(description: str) -> argparse.ArgumentParser:
    """A parser with the options that every job has."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    made.add_argument("--master", help="Spark master; default local[*], or what spark-submit says")
    made.add_argument("--trace", action="store_true", help="show the stack trace of an error")
    return made


def add_view(made: argparse.ArgumentParser, *, many: bool = False) -> None:
    """--views FILE and --view NAME."""
    made.add_argument("--views", type=Path, default=Path("views.toml"), help="file that defines the views")
    if many:
        made.add_argument("--view", action="append", metavar="NAME", help="a view; may be repeated; default all")
    else:
        made.add_argument("--view", metavar="NAME", help="the view; needed only where the file defines several")


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def load_views(path: Path) -> dict[str, View]:
    """The views of views.toml; every mistake is one line that names the file."""
    try:
        return views_of(tomllib.loads(path.read_text()))
    except FileNotFoundError:
        raise InvalidInput(f"{path} does not exist: it defines the views; name another with --views") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not TOML: {error}") from None
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def chosen_view(path: Path, name: str | None) -> View:
    """The view of that name, or the only one there is."""
    views = load_views(path)
    if name is None and len(views) == 1:
        return next(iter(views.values()))
    if name is None:
        raise InvalidInput(f"{path} defines several views, choose one with --view: {', '.join(sorted(views))}")
    if name not in views:
        raise InvalidInput(f"there is no view {name!r} in {path}; defined are: {', '.join(sorted(views))}")
    return views[name]


def chosen_views(path: Path, names: Sequence[str] | None) -> list[View]:
    """The views of these names, each once, or all."""
    return [chosen_view(path, name) for name in dict.fromkeys(names)] if names else list(load_views(path).values())


def note(text: str) -> None:
    """A line about the course of the job, on stderr: stdout is for results."""
    print(text, file=sys.stderr, flush=True)


def run(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Runs a job as a program."""
    for logger in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):  # they write stack traces of their own
        PySparkLogger.getLogger(logger).disabled = "--trace" not in sys.argv
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        note("interrupted")
        code = INTERRUPTED
    except (SkylineError, PySparkException, Py4JError, OSError) as error:
        if "--trace" in sys.argv:
            raise
        note(f"error: {one_line(error)}")
        code = FAILED
    sys.stdout.flush()
    sys.stderr.flush()
    if code == INTERRUPTED:
        os._exit(code)  # py4j would wait for an answer that does not come
    sys.exit(code)


def one_line(error: Exception) -> str:
    """What went wrong, without the stack traces that Spark and Python put around it."""
    text = str(error) if isinstance(error, SkylineError) else _innermost(error)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 3] + "..."


def _innermost(error: Exception) -> str:
    text = str(error)
    raised = re.findall(r"^(?:\w+\.)*(?:InvalidInput|JobError): (.*)$", text, re.MULTILINE)
    if raised:
        return str(raised[-1])
    if isinstance(error, Py4JJavaError):
        cause = error.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        text = cause.getMessage() or cause.toString()
    causes = re.findall(r"^Caused by: (?:[\w$]+\.)*[\w$]+: (.*)$", text, re.MULTILINE)
    first = str(causes[-1]) if causes else _before_trace(text)
    return re.sub(r"^\[[A-Z_.]+\]\s*", "", re.split(r"\s*SQLSTATE: ", first)[0])


def _before_trace(text: str) -> str:
    """The message up to the plan or stack trace that follows it."""
    lines: list[str] = []
    for line in text.splitlines():
        if re.match(r"\s*(at |'?\w+.*\+-|JVM stacktrace|Traceback)", line) or (lines and not line.strip()):
            break
        lines.append(line)
    return " ".join(lines) or text.split("\n", 1)[0]
