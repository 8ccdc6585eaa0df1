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
import socket
import subprocess
import time
import uuid
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from deploy.local.jars import KAFKA, jars
from deploy.local.java import ensure_java
from skyline.errors import SkylineError

START_SECONDS: Final = 90.0
STOP_SECONDS: Final = 30.0
_SPACE_NEEDED: Final = 256 * 2**20
_HEAP: Final = "-Xmx1g"
_PR_SET_PDEATHSIG: Final = 1

_PROPERTIES: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={data}
num.partitions=1
auto.create.topics.enable=false
message.max.bytes=16777216
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""

_LOG4J: Final = """\
status=warn
appender.file.type=File
appender.file.name=file
appender.file.fileName={log}
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %c{{1}}: %m%n
rootLogger.level=info
rootLogger.appenderRef.file.ref=file
"""


class BrokerError(SkylineError):
    """The local broker could not do what was asked; the message says why and what to do."""


class Broker:
    """One broker process and its home directory."""

    def __init__(self, home: Path, port: int | None = None, *, dies_with_parent: bool = False) -> None:
        """A fixed `port`, or None for a free one. `dies_with_parent`: the kernel kills it when this process ends."""
        self.home = home.resolve()
        self.port = port
        self._dies_with_parent = dies_with_parent
        self._child: subprocess.Popen[bytes] | None = None

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

    def start(self) -> Broker:
        """Starts the broker and returns once it answers. Refuses a home or a port that is in use."""
        running = self.pid()
        if running is not None:
            raise BrokerError(f"a broker runs on {self.home} already (process {running}): stop it first")
        self._check_space()
        java = ensure_java()
        classpath = os.pathsep.join(str(jar) for jar in jars(KAFKA))
        self.port = self._choose_port()
        self._configure()
        try:
            self._format(java, classpath)
            self._spawn(java, classpath)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise BrokerError(f"no space left in {self.home}: free some, or choose another home") from None
            raise
        self._wait_until_it_answers()
        return self

    def stop(self) -> None:
        """Asks the broker to end, waits, and kills it if it does not. No error when none runs."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the broker at once, as a crash would."""
        self._end(signal.SIGKILL)

    def restart(self) -> Broker:
        """Stops and starts on the same data and port."""
        self.stop()
        return self.start()

    def pid(self) -> int | None:
        """Process id of the broker that runs on this home, or None; forgets a stale pid file."""
        try:
            pid, port = (int(word) for word in self._pid_file.read_text().split())
        except (FileNotFoundError, ValueError):
            return None
        if self._is_ours(pid):
            self.port = port
            return pid
        self._pid_file.unlink(missing_ok=True)
        return None

    def _is_ours(self, pid: int) -> bool:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return state != "Z" and str(self.home).encode() in command

    def _check_space(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.home).free
        if free < _SPACE_NEEDED:
            raise BrokerError(f"{self.home} has {free >> 20} MB free and Kafka needs {_SPACE_NEEDED >> 20}: free some")

    def _choose_port(self) -> int:
        if self.port is None:
            return _free_port()
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError:
                raise BrokerError(
                    f"port {self.port} is in use: choose another with --port, or 0 for a free one"
                ) from None
        return self.port

    def _configure(self) -> None:
        data = self.home / "data"
        properties = _PROPERTIES.format(port=self.port, controller=_free_port(), data=data)
        (self.home / "server.properties").write_text(properties)
        (self.home / "log4j2.properties").write_text(_LOG4J.format(log=self.log))

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
        properties = str(self.home / "server.properties")
        command = ["kafka.tools.StorageTool", "format", "-c", properties, "-t", _cluster_id()]
        result = subprocess.run(self._java(java, classpath, *command), capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise BrokerError(f"Kafka could not format {self.home}: {(result.stderr or result.stdout).strip()[-300:]}")

    def _spawn(self, java: str, classpath: str) -> None:
        command = self._java(java, classpath, "kafka.Kafka", str(self.home / "server.properties"))
        with (self.home / "kafka.out").open("wb") as out:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=die_with_parent if self._dies_with_parent else None,
            )
        self._pid_file.write_text(f"{self._child.pid} {self.port}")

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._child is not None and self._child.poll() is not None:
                self._pid_file.unlink(missing_ok=True)
                raise BrokerError(f"Kafka ended at once ({self._last_words()}): see {self.log}")
            if _port_open(self.port) and _answers(self.address):
                return
            time.sleep(0.05)
        self.kill()
        raise BrokerError(f"Kafka did not answer within {START_SECONDS:.0f} s: see {self.log}")

    def _last_words(self) -> str:
        for file in (self.log, self.home / "kafka.out"):
            lines = file.read_text(errors="replace").splitlines() if file.exists() else []
            for line in reversed(lines):
                if "ERROR" in line or "Exception" in line:
                    return line.strip()[:200]
        return "no error logged"

    def _end(self, how: signal.Signals) -> None:
        pid = self.pid()
        if pid is None:
            return
        os.kill(pid, how)
        deadline = time.monotonic() + STOP_SECONDS
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _port_open(port: int | None) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port or 0)) == 0


def _answers(address: str) -> bool:
    # librdkafka would print a line per refused connection while the broker starts: it is told to stay silent
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0, "socket.timeout.ms": 2000})
    try:
        return bool(admin.list_topics(timeout=2).brokers)
    except KafkaException:
        return False


def _cluster_id() -> str:

    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
