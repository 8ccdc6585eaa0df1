"""The pipeline on a real broker: throughput against the plain consumer, latency, recovery, memory.

`python -m benchmarks.pipeline [--quick] [--json FILE]`
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.harness import Spread, Target, parse_arguments, write_json
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
    }


def latency(kafka: KafkaSettings, home: Path, seconds: float, times: int, rate: int = 50_000) -> dict[str, Any]:
    """Produced to visible at a steady rate, on top of all objects, with checkpoints being written meanwhile."""
    topic = "latency.updates"
    fill(kafka, topic, [b"object-%d" % i for i in range(OBJECTS)], seed=3)
    view = view_of("latency", topic)
    with Running(kafka, home, view, "--checkpoint-seconds", "5") as maintainer:
        maintainer.wait("skyline_updates_total", OBJECTS)
        runs = [latencies(kafka, view, rate, seconds, OBJECTS) for _ in range(times)]
    return {
        "rate": rate,
        "seconds": seconds,
        **{name: Spread.of([run[name] for run in runs]) for name in ("updates_per_second", "p50_ms", "p99_ms")},
        "changes": sum(run["changes"] for run in runs),
    }


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
    }


def targets(results: dict[str, Any]) -> list[Target]:
    through, wait, back = results["throughput"], results["latency"], results["recovery"]
    objects = f"{back['objects']:,} objects"
    from_log = back["from_log_per_second"] / back["consume_per_second"]
    return [
        Target("topic to committed changes, share of Consumer.consume", 0.8, through["ratio"].median, at_least=True),
        Target("updates/s while latency is measured", 0.99 * wait["rate"], wait["updates_per_second"].min, "/s", True),
        Target("produced to visible, median", 20, wait["p50_ms"].median, " ms"),
        Target("produced to visible, 99th percentile", 50, wait["p99_ms"].median, " ms"),
        Target(f"recovery of {objects} from a checkpoint", 10, back["from_checkpoint_seconds"], " s"),
        Target(f"recovery of {objects} from the log, share of Consumer.consume", 0.8, from_log, at_least=True),
        Target(f"resident memory with {objects}", 1000, back["memory_mb"]["now"], " MB"),
        Target("resident memory, peak", 1000, back["memory_mb"]["peak"], " MB"),
    ]


def report(results: dict[str, Any]) -> None:
    through, wait, back = results["throughput"], results["latency"], results["recovery"]
    rows = [
        ("Consumer.consume, records/s", through["consume_per_second"], ",.0f"),
        ("topic to committed changes, updates/s", through["committed_per_second"], ",.0f"),
        ("share", through["ratio"], ".2f"),
        ("latency at this many updates/s", wait["updates_per_second"], ",.0f"),
        ("latency, median, ms", wait["p50_ms"], ".1f"),
        ("latency, 99th percentile, ms", wait["p99_ms"], ".1f"),
    ]
    print(f"{'':<44}{'least':>12}{'median':>12}{'greatest':>12}")
    for name, spread, style in rows:
        print(f"{name:<44}{spread.min:>12{style}}{spread.median:>12{style}}{spread.max:>12{style}}")
    again, log = back["from_checkpoint_seconds"], back["from_log_seconds"]
    print(f"\n{back['objects']:,} objects: live {again:.1f} s after a start from a checkpoint of", end=" ")
    print(f"{back['checkpoint_mb']:.0f} MB, {log:.1f} s from the log: {back['from_log_per_second']:,.0f}/s,", end=" ")
    print(f"where Consumer.consume makes {back['consume_per_second']:,.0f}/s\n")


def main() -> None:
    arguments = parse_arguments(__doc__ or "")
    quick = arguments.quick
    with tempfile.TemporaryDirectory(prefix="skyline-pipeline-") as directory:
        home = Path(directory)
        broker = Broker(home / "kafka", dies_with_parent=True).start()
        try:
            kafka = KafkaSettings(broker.address)
            results: dict[str, Any] = {
                "throughput": throughput(kafka, home, 500_000 if quick else 3_000_000, 1 if quick else 5),
                "latency": latency(kafka, home, 4 if quick else 15, 1 if quick else 3),
                "recovery": recovery(kafka, home, 200_000 if quick else 1_000_000),
            }
        finally:
            broker.stop()
    report(results)
    results["targets"] = targets(results)
    print("\n".join(map(str, results["targets"])))
    if arguments.json:
        write_json(arguments.json, "pipeline", results)


if __name__ == "__main__":
    main()
