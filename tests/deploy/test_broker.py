"""The local broker's life, and what it says when something is in its way."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from deploy.local import broker as broker_module
from deploy.local.broker import Broker, BrokerError
from deploy.local.ports import free_port, port_open
from tests.deploy.processes import skyline, wait_until


def _write(broker: Broker, topic: str, value: str) -> None:
    producer = Producer({"bootstrap.servers": broker.address})
    producer.produce(topic, value)
    assert producer.flush(30) == 0


def _end(broker: Broker, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "end"})
    try:
        end: int = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)[1]
        return end
    finally:
        consumer.close()


def _command(*words: str) -> tuple[int, str]:
    running = skyline("kafka", *words)
    output, _ = running.communicate(timeout=120)
    return running.returncode, output


def test_a_broker_keeps_its_data_through_restarts_and_crashes(
    tmp_path: Path, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_module, "_cluster_id", lambda: "-AAAAAAAAAAAAAAAAAAAAA")  # looks like an option
    broker = Broker(tmp_path, dies_with_parent=True)
    try:
        broker.start()
        address, first = broker.address, broker.pid()
        admin = AdminClient({"bootstrap.servers": address})
        admin.create_topics([NewTopic(unique, 1, 1)])[unique].result(30)
        del admin  # it would go on asking for a broker that is away
        _write(broker, unique, "before")
        with pytest.raises(BrokerError, match=f"a broker runs on {tmp_path} already"):
            Broker(tmp_path).start()

        broker.refuse_ended()
        broker.restart()
        assert (broker.address, broker.pid() == first) == (address, False)
        _write(broker, unique, "after the restart")

        running = broker.pid()
        assert running is not None
        os.kill(running, signal.SIGKILL)
        wait_until(lambda: broker.pid() is None)
        assert broker.crashed() == running
        with pytest.raises(BrokerError, match=r"^Kafka ended by itself \(.*\): see .*kafka\.log$"):
            broker.refuse_ended()

        where = ("--home", str(tmp_path), "--port", address.rpartition(":")[2])
        code, said = _command("status", *where)
        assert (code, f"(process {running}) ended without being stopped; its data is kept" in said) == (3, True)
        code, said = _command("start", *where)
        assert (code, f"Kafka answers at {address}, logs to {tmp_path}/kafka.log" in said) == (0, True), said
        assert _end(broker, unique) == 2
        assert _command("status", *where)[1].startswith(f"Kafka runs at {address} (process {broker.pid()})")
        assert _command("stop", *where)[1].startswith("stopped the broker")
        assert _command("stop", *where) == (0, f"no broker runs on {tmp_path}\n")
        assert "INFO" in broker.log.read_text()
    finally:
        broker.kill()
    assert broker.port is not None
    assert not port_open(broker.port)


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BrokerError, match=f"port {port} is in use: choose another with --port, or 0"):
            Broker(tmp_path, port).start()


def test_a_pid_file_of_another_process_is_not_believed(tmp_path: Path) -> None:
    """After a reboot the number may belong to anybody; it must not be killed."""
    (tmp_path / "kafka.pid").write_text(f"{os.getpid()} {free_port()}")
    broker = Broker(tmp_path)
    assert broker.pid() is None
    assert broker.crashed() == os.getpid()
    broker.stop()
    assert broker.crashed() is None


def test_a_damaged_pid_file_is_no_broker(tmp_path: Path) -> None:
    (tmp_path / "kafka.pid").write_text("half a")
    assert Broker(tmp_path).pid() is None


def test_too_little_space_is_said_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_module, "_SPACE_NEEDED", 1 << 60)
    with pytest.raises(BrokerError, match=rf"{tmp_path} has \d+ MB free and Kafka needs \d+: free some"):
        Broker(tmp_path).start()
    assert list(tmp_path.iterdir()) == []


def test_data_of_another_kind_is_refused_with_the_brokers_own_words(tmp_path: Path) -> None:
    """A broker that ends at once leaves no process and no pid file, and its error is quoted."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "meta.properties").write_text("version=1\nnode.id=7\ncluster.id=other\n")
    broker = Broker(tmp_path, dies_with_parent=True)
    with pytest.raises(BrokerError, match=r"Kafka ended at once \(.+\): see .*kafka\.log"):
        broker.start()
    assert broker.pid() is None
    assert broker.crashed() is None
