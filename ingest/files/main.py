"""`python -m ingest file`: every file in turn, then the summary."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from rich.progress import Progress

from ingest.check import Checker
from ingest.files.config import FileConfig
from ingest.files.formats import open_file
from ingest.files.layout import Layout
from ingest.files.progress import ProgressFile
from ingest.files.reader import Reader
from ingest.files.report import Report, progress_bar
from ingest.files.run import FileRun
from ingest.files.tail import Tail, ends_of, written_since
from ingest.publisher import Publisher
from ingest.startup import new_metrics, only_view, parser_for, prepare_topics, serve_metrics
from skyline.errors import InvalidInput
from skyline.runtime.config import configure, load_views
from skyline.runtime.process import set_up_logging, stop_on_signals
from skyline.view import View, parse_duration

ALL_SENT: Final = 0
INTERRUPTED: Final = 1
SOME_REFUSED: Final = 2


def main(argv: Sequence[str]) -> int:
    config = configure(FileConfig, argv, parser_for("file", FileConfig))
    set_up_logging(config.log_level)
    view = only_view(load_views(config.views), config.view)
    layout = Layout.of(view, config.key, config.map, config.time, config.delete, config.json)
    checker = Checker(view, parse_duration(config.max_ahead))
    stop = stop_on_signals()
    metrics = new_metrics()
    with ExitStack() as stack:
        for name in config.files:  # a mistake in the last file should not show after the first was sent
            open_file(Path(name), layout, config.format, config.delimiter).close()
        report = Report(view.name, metrics, Path(config.rejects) if config.rejects else None)
        stack.callback(report.close)
        prepare_topics(config.kafka, [view], config.replication, stop)
        publisher = Publisher(config.kafka, config.timeout, stop)
        stack.callback(publisher.drop)
        serve_metrics(stack, config.metrics_host, config.metrics_port, metrics, publisher.trouble)
        bar = stack.enter_context(progress_bar())
        sender = _Sender(config, view, layout, checker, publisher, report, bar, stop)
        finished = all(sender.send(Path(name)) for name in config.files)
    print(report.summary(view.topic("updates"), "" if finished else "interrupted, run it again to go on"))
    if not finished:
        return INTERRUPTED
    return SOME_REFUSED if report.refused else ALL_SENT


class _Sender:
    """What the files of one run share."""

    def __init__(
        self, config: FileConfig, view: View, layout: Layout, checker: Checker, publisher: Publisher, report: Report,
        bar: Progress, stop: threading.Event,
    ) -> None:  # fmt: skip
        self._config, self._topic, self._layout = config, view.topic("updates"), layout
        self._checker, self._publisher, self._report = checker, publisher, report
        self._bar, self._stop = bar, stop

    def send(self, path: Path) -> bool:
        """True when the file is sent to its end."""
        if self._stop.is_set():
            return False
        progress = ProgressFile(self._config.state, path, self._topic, self._layout.fingerprint())
        with (
            progress.held(),
            open_file(path, self._layout, self._config.format, self._config.delimiter) as reader,
        ):
            rows, offset = self._resume(progress)
            with closing(written_since(self._config.kafka, self._topic, offset)) as written:
                tail = Tail(written, compare_time=self._layout.time is not None)
                run = FileRun(
                    reader, self._topic, self._checker, self._publisher, self._report, progress, tail, self._stop
                )
                finished = run.send(rows, offset, self._on_batch(reader))
        if rows or tail.found:
            hint = "; --restart sends them again" if finished else ""
            line = f"{path}: {rows + tail.found:,} rows had been sent by an earlier run{hint}"
            self._bar.console.print(line, soft_wrap=True, markup=False)
        return finished

    def _resume(self, progress: ProgressFile) -> tuple[int, int]:
        """(rows that are sent, offset from which later ones may be found)."""
        saved = None if self._config.restart else progress.load()
        _, past = ends_of(self._config.kafka, self._topic)
        if saved is None:
            return 0, past
        if past < saved.offset:
            raise InvalidInput(
                f"{self._topic} ends at offset {past}, but {saved.rows:,} rows were sent up to {saved.offset}: the "
                f"topic was created anew; --restart sends the file from its first row"
            )
        return saved.rows, saved.offset

    def _on_batch(self, reader: Reader) -> Callable[[int], None]:
        task = self._bar.add_task(reader.path.name, total=reader.total, rows=0)
        return lambda rows: self._bar.update(task, completed=reader.position(), rows=rows)
