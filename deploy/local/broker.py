"""A real single-node Apache Kafka (KRaft) on loopback: start, wait until it answers, stop, restart, kill.

Everything lives under one home directory: server.properties, data/, kafka.log, kafka.pid. A broker started on a
home that has data serves that data again. Costs about 5 s and 400 MB to start.
"""

from __future__ import annotations

import base64
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from deploy.local.broker_config import write_config
from deploy.local.jars import KAFKA, jars
from deploy.local.java import ensure_java
from deploy.local.ports import free_port, port_in_use, port_open
from skyline.errors import SkylineError

START_SECONDS: Final = 90.0
STOP_SECONDS: Final = 30.0
_SPACE_NEEDED: Final = 256 * 2**20
_HEAP: Final = "-Xmx1g"
_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None)  # loaded here: between fork and exec is no place to load a library
_PORT_TRIES: Final = 3


class BrokerError(SkylineError):
    """The local broker could not do what was asked; the message says why and what to do."""


class PortTaken(BrokerError):
    """Somebody else listens on the port."""


class Broker:
    """One broker process and its home directory."""

    def __init__(self, home: Path, port: int | None = None, *, dies_with_parent: bool = False) -> None:
        """A fixed `port`, or None for a free one. `dies_with_parent`: the kernel kills it when this process ends."""
        self.home = home.resolve()
        self.port = port
        self._dies_with_parent = dies_with_parent
        self._child: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def address(self) -> str:
        """What clients call bootstrap.servers."""
        return f"127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.home / "kafka.log"

    @property
    def _pid_file(self) -> Path:
        return self.home / "kafka.pid"

    @property
    def _properties(self) -> Path:
        return self.home / "server.properties"

    def start(self) -> Broker:
        """Starts the broker and returns once it answers. Refuses a home or a port that is in use.

        Interrupted, it leaves no process behind.
        """
        running = self.pid()
        if running is not None:
            raise BrokerError(f"a broker runs on {self.home} already (process {running}): stop it first")
        self._check_space()
        java = ensure_java()
        classpath = os.pathsep.join(str(jar) for jar in jars(KAFKA))
        tries = 1 if self.port else _PORT_TRIES
        while True:
            tries -= 1
            try:
                self._start(java, classpath, self._choose_port())
                return self
            except PortTaken:  # a free port can be taken before Java gets to it
                if not tries:
                    raise

    def _start(self, java: str, classpath: str, port: int) -> None:
        try:
            write_config(self.home, port, free_port(), self.log)
            self._format(java, classpath)
            self._spawn(java, classpath, port)
            self._wait_until_it_answers(port)
        except BaseException as error:
            self._abandon()
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise BrokerError(f"no space left in {self.home}: free some, or choose another home") from None
            raise
        self.port = port

    def _abandon(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait(STOP_SECONDS)
        self._pid_file.unlink(missing_ok=True)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Asks the broker to end, and kills it if it has not after `seconds`. No error when none runs."""
        self._end(signal.SIGTERM, seconds)

    def kill(self) -> None:
        """Ends the broker at once, as a crash would."""
        self._end(signal.SIGKILL, STOP_SECONDS)

    def restart(self) -> Broker:
        """Stops and starts on the same data and port."""
        self.stop()
        return self.start()

    def pid(self) -> int | None:
        """Process id of the broker that runs on this home, or None."""
        if self._child is not None:
            self._child.poll()  # a child that ended by itself is a zombie until it is asked for
        noted = self._noted()
        if noted is None or not self._is_ours(noted[0]):
            return None
        self.port = noted[1]
        return noted[0]

    def refuse_ended(self) -> None:
        """Raises `BrokerError` when the broker that was started has ended by itself: a full disk ends it, for one."""
        if self.pid() is None:
            raise self._why_it_ended("by itself")

    def crashed(self) -> int | None:
        """Process id of a broker that ended without being stopped: a crash, a kill, a reboot. Its data is whole."""
        noted = self._noted()
        return None if noted is None or self._is_ours(noted[0]) else noted[0]

    def _noted(self) -> tuple[int, int] | None:
        """(process id, port) in the pid file."""
        try:
            pid, port = (int(word) for word in self._pid_file.read_text().split())
        except (FileNotFoundError, ValueError):
            return None
        return pid, port

    def _is_ours(self, pid: int) -> bool:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return state != "Z" and str(self._properties).encode() in command.split(b"\0")

    def _check_space(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.home).free
        if free < _SPACE_NEEDED:
            raise BrokerError(f"{self.home} has {free >> 20} MB free and Kafka needs {_SPACE_NEEDED >> 20}: free some")

    def _choose_port(self) -> int:
        if self.port is None:
            return free_port()
        if port_in_use(self.port):
            raise PortTaken(f"port {self.port} is in use: choose another with --port, or 0 for a free one")
        return self.port

    def _java(self, java: str, classpath: str, *command: str) -> list[str]:
        return [
            java,
            _HEAP,
            f"-Dlog4j2.configurationFile={self.home / 'log4j2.properties'}",
            "-cp",
            classpath,
            *command,
        ]

    def _format(self, java: str, classpath: str) -> None:
        if (self.home / "data" / "meta.properties").exists():
            return
        command = ["kafka.tools.StorageTool", "format", "-c", str(self._properties), f"--cluster-id={_cluster_id()}"]
        result = subprocess.run(self._java(java, classpath, *command), capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise BrokerError(f"Kafka could not format {self.home}: {(result.stderr or result.stdout).strip()[-300:]}")

    def _spawn(self, java: str, classpath: str, port: int) -> None:
        command = self._java(java, classpath, "kafka.Kafka", str(self._properties))
        self.log.touch()
        self._log_start = self.log.stat().st_size
        with (self.home / "kafka.out").open("wb") as out:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=die_with_parent if self._dies_with_parent else None,
            )
        self._pid_file.write_text(f"{self._child.pid} {port}")

    def _wait_until_it_answers(self, port: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._child is not None and self._child.poll() is not None:
                raise self._why_it_ended("at once")
            if port_open(port) and _answers(f"127.0.0.1:{port}"):
                return
            time.sleep(0.05)
        raise BrokerError(f"Kafka did not answer within {START_SECONDS:.0f} s: see {self.log}")

    def _why_it_ended(self, when: str) -> BrokerError:
        errors = [line.strip() for line in self._lines() if "ERROR" in line or "Exception" in line]
        if any("BindException" in line or "Address already in use" in line for line in errors):
            return PortTaken(f"Kafka's port was taken while it started: try again; {self.log} says more")
        return BrokerError(f"Kafka ended {when} ({errors[-1][:200] if errors else 'no error logged'}): see {self.log}")

    def _lines(self) -> list[str]:
        """What the broker has said since it was spawned."""
        said = (self.home / "kafka.out").read_text(errors="replace")
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            said += log.read().decode(errors="replace")
        return said.splitlines()

    def _end(self, how: signal.Signals, seconds: float) -> None:
        pid = self.pid()
        if pid is not None:
            os.kill(pid, how)
            deadline = time.monotonic() + seconds
            while self._is_ours(pid):
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
                    deadline = time.monotonic() + STOP_SECONDS
                if self._child is not None:
                    self._child.poll()
                time.sleep(0.02)
            if self._child is not None and self._child.pid == pid:
                self._child.wait(STOP_SECONDS)  # it looks gone a moment before it is, and Python warns about that
        self._pid_file.unlink(missing_ok=True)


def _answers(address: str) -> bool:
    # librdkafka would print a line per refused connection while the broker starts: it is told to stay silent
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0, "socket.timeout.ms": 2000})
    try:
        return bool(admin.list_topics(timeout=2).brokers)
    except KafkaException:
        return False


def _cluster_id() -> str:
    """16 random bytes in URL-safe base64. One in 64 begins with "-", as options do."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def die_with_parent() -> None:
    """For `preexec_fn`: the kernel kills the child when the thread that started it ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
