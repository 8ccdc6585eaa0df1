"""The pipeline on a real broker: throughput against the plain consumer, latency, recovery, memory.

`python -m benchmarks.pipeline [--quick] [--json FILE]`
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.harness import Spread, parse_arguments, write_json
from benchmarks.pipeline_latency import latencies
from benchmarks.pipeline_parts import TOPIC, Running, fill, plain_drain, random_keys, view_of
from deploy.local.broker import Broker
from skyline.runtime.config import KafkaSettings

OBJECTS = 100_000


def throughput(kafka: KafkaSettings, home: Path, count: int, times: int) -> dict[str, Any]:
    """Updates a second from topic to committed changes, beside the plain consumer's drain rate, in turns."""
    fill(kafka, TOPIC, random_keys(count, OBJECTS, seed=1), seed=2)
    plain, committed = [], []
    for turn in range(times + 1):
        drained = plain_drain(kafka, TOPIC, count)
        with Running(kafka, home, view_of(f"throughput{turn}"), "--checkpoint-seconds", "0") as maintainer:
            rate = maintainer.commit_rate(count)
        if turn:  # the first turn warms the broker's page cache and ours
            plain.append(drained)
            committed.append(rate)
    ratios = [ours / theirs for ours, theirs in zip(committed, plain, strict=True)]
    return {
        "updates": count,
        "consume_per_second": Spread.of(plain),
        "committed_per_second": Spread.of(committed),
        "ratio": Spread.of(ratios),
        "target_ratio": 0.8,
    }


def latency(kafka: KafkaSettings, home: Path, seconds: float, rate: int = 50_000) -> dict[str, Any]:
    """Produced to visible at a steady rate, on top of all objects."""
    topic = "latency.updates"
    fill(kafka, topic, [b"object-%d" % i for i in range(OBJECTS)], seed=3)
    view = view_of("latency", topic)
    with Running(kafka, home, view) as maintainer:
        maintainer.wait("skyline_updates_total", OBJECTS)
        result = latencies(kafka, view, rate, seconds, OBJECTS)
    return {**result, "rate": rate, "target_p50_ms": 20, "target_p99_ms": 50}


def recovery(kafka: KafkaSettings, home: Path, objects: int) -> dict[str, Any]:
    """Seconds to be live again, from a checkpoint and from the log; and resident memory with all objects."""
    topic = "recovery.updates"
    fill(kafka, topic, [b"object-%d" % i for i in range(objects)], seed=4)
    view = view_of("recovery", topic)
    with Running(kafka, home, view, "--checkpoint-seconds", "5") as maintainer:
        maintainer.wait("skyline_updates_total", objects)
        maintainer.wait("skyline_checkpoint_bytes", 1)
        memory = maintainer.memory()
        size = maintainer.metric("skyline_checkpoint_bytes")
        maintainer.stop()
    with Running(kafka, home, view, "--checkpoint-seconds", "0") as maintainer:
        from_checkpoint = maintainer.wait("skyline_recovery_seconds", 1e-9)
        recovered = maintainer.memory()
    shutil.rmtree(home / "state")
    with Running(kafka, home, view, "--checkpoint-seconds", "0") as maintainer:
        from_log = maintainer.wait("skyline_recovery_seconds", 1e-9)
    return {
        "objects": objects,
        "from_checkpoint_seconds": from_checkpoint,
        "from_log_seconds": from_log,
        "from_log_per_second": objects / from_log,
        "consume_per_second": plain_drain(kafka, topic, objects),
        "checkpoint_mb": size / 2**20,
        "memory_mb": memory,
        "memory_recovered_mb": recovered,
        "target_checkpoint_seconds": 10,
        "target_memory_mb": 1000,
    }


def report(results: dict[str, Any]) -> None:
    through, wait, back = results["throughput"], results["latency"], results["recovery"]
    rows = [
        ("Consumer.consume, records/s", f"{through['consume_per_second'].median:,.0f}", ""),
        ("topic to committed changes, updates/s", f"{through['committed_per_second'].median:,.0f}", ""),
        ("ratio", f"{through['ratio'].median:.2f}", ">= 0.8"),
        (f"latency at {wait['updates_per_second']:,.0f} updates/s, p50", f"{wait['p50_ms']:.0f} ms", "< 20 ms"),
        ("latency, p99", f"{wait['p99_ms']:.0f} ms", "< 50 ms"),
        (f"recovery of {back['objects']:,} objects, checkpoint", f"{back['from_checkpoint_seconds']:.1f} s", "< 10 s"),
        ("recovery from the log, updates/s", f"{back['from_log_per_second']:,.0f}", "drain speed"),
        ("Consumer.consume on that log, records/s", f"{back['consume_per_second']:,.0f}", ""),
        ("resident memory with all objects", f"{back['memory_mb']['now']:,.0f} MB", "< 1,000 MB"),
        ("resident memory, peak", f"{back['memory_mb']['peak']:,.0f} MB", ""),
    ]
    for name, value, target in rows:
        print(f"{name:<52}{value:>14}   {target}")


def main() -> None:
    arguments = parse_arguments(__doc__ or "")
    quick = arguments.quick
    with tempfile.TemporaryDirectory(prefix="skyline-pipeline-") as directory:
        home = Path(directory)
        broker = Broker(home / "kafka", dies_with_parent=True).start()
        try:
            kafka = KafkaSettings(broker.address)
            results = {
                "throughput": throughput(kafka, home, 500_000 if quick else 3_000_000, 1 if quick else 5),
                "latency": latency(kafka, home, 4 if quick else 20),
                "recovery": recovery(kafka, home, 200_000 if quick else 1_000_000),
            }
        finally:
            broker.stop()
    report(results)
    if arguments.json:
        write_json(arguments.json, "pipeline", results)


if __name__ == "__main__":
    main()
