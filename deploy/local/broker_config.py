"""What the local broker is told: one node that is broker and controller, on loopback, with no replication."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PROPERTIES: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={data}
"""

SETTINGS: Final = {
    "num.partitions": "1",
    "auto.create.topics.enable": "false",
    "message.max.bytes": "16777216",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "offsets.retention.minutes": "5256000",  # ten years: a maintainer that lost its offset refuses to start
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
"""Settings of a broker that is alone; docker-compose.yml gives its broker the same."""

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


def write_config(home: Path, port: int, controller: int, log: Path) -> None:
    """Writes server.properties and log4j2.properties into the broker's home."""
    settings = "".join(f"{name}={value}\n" for name, value in SETTINGS.items())
    place = _PROPERTIES.format(port=port, controller=controller, data=home / "data")
    (home / "server.properties").write_text(place + settings)
    (home / "log4j2.properties").write_text(_LOG4J.format(log=log))
