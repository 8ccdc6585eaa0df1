"""Topics of a view: created with the right settings, or checked, with an error that says what to change."""

from __future__ import annotations

from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from skyline.errors import InvalidInput, SkylineError
from skyline.runtime.config import KafkaSettings
from skyline.view import View

TIMEOUT: Final = 30.0

# Timestamps are event time: kept for a week, a year's history would be gone as soon as it was sent. So nothing is
# dropped by age; what must be bounded, is bounded by size.
_KEPT: Final = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
_REJECTS_KEPT: Final = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": str(2**30)}

LARGEST_RECORD: Final = 16 * 2**20
"""What the maintainer may have to publish: a reject as large as it came, or a change with all that it carries."""

_PUBLISHED: Final = {
    "max.message.bytes": str(LARGEST_RECORD),
    # the timestamp of a record is event time, which may be ahead of the broker's clock
    "message.timestamp.after.max.ms": str(2**63 - 1),
}
SETTINGS: Final[dict[str, dict[str, str]]] = {
    "updates": {**_KEPT, "message.timestamp.type": "CreateTime"},
    "changes": {**_KEPT, **_PUBLISHED},
    "skyline": {"cleanup.policy": "compact", **_PUBLISHED},
    "rejected": {**_REJECTS_KEPT, **_PUBLISHED},
}
"""Settings that a topic of each kind is created with."""

_REQUIRED: Final = {
    "updates": ("cleanup.policy",),
    "changes": ("cleanup.policy", "retention.ms", "retention.bytes", "max.message.bytes"),
    "skyline": ("cleanup.policy", "max.message.bytes"),
    "rejected": ("max.message.bytes",),
}
"""Settings without which a topic that exists cannot serve: sizes at least so large, all others exactly so."""


class TopicUnfit(SkylineError):
    """A topic cannot serve its purpose as it is."""


class KafkaUnreachable(SkylineError):
    """No broker answered."""


def ensure_topics(
    kafka: KafkaSettings, view: View, kinds: tuple[str, ...] | None = None, replication: int = -1
) -> None:
    """Creates what is missing and checks what is there: topics of these kinds, or all of the view.

    `replication` -1 leaves it to the broker's default.
    """
    kinds = view.kinds if kinds is None else kinds
    # librdkafka would print twenty lines a second about a broker that is away: the error below says it once
    try:
        admin = AdminClient({**kafka.client(), "log_level": 0})
    except KafkaException as error:
        raise InvalidInput(f"no Kafka client can be made with these settings: {error.args[0].str()}") from None
    existing = _existing(admin, kafka)
    missing = [kind for kind in kinds if view.topic(kind) not in existing]
    for kind in kinds:
        if kind not in missing:
            _check_partitions(view, kind, existing[view.topic(kind)])
    _create(admin, view, missing, replication)
    _check_settings(admin, view, [kind for kind in kinds if kind not in missing])


def _base(kind: str) -> str:
    """What sort of topic it is: the changes of a watch (`changes.last-N`) are changes."""
    return kind.partition(".")[0]


def _existing(admin: AdminClient, kafka: KafkaSettings) -> dict[str, int]:
    try:
        listing = admin.list_topics(timeout=TIMEOUT)
    except KafkaException as error:
        raise KafkaUnreachable(f"no broker answers at {kafka.bootstrap}: {error.args[0].str()}") from None
    return {name: len(topic.partitions) for name, topic in listing.topics.items()}


def _check_partitions(view: View, kind: str, partitions: int) -> None:
    if partitions != 1:
        raise TopicUnfit(
            f"topic {view.topic(kind)} has {partitions} partitions: a view needs exactly 1, because its skyline is "
            f"global and one engine must see every update; create the topic again with 1 partition, "
            f"or make one view per partition's share of the data"
        )


def _create(admin: AdminClient, view: View, kinds: list[str], replication: int) -> None:
    if not kinds:
        return
    wanted = [NewTopic(view.topic(kind), 1, replication, config=SETTINGS[_base(kind)]) for kind in kinds]
    for topic, future in admin.create_topics(wanted, operation_timeout=TIMEOUT).items():
        try:
            future.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:  # another process may have been faster
                raise TopicUnfit(f"topic {topic} could not be created: {error.args[0].str()}") from None


def _check_settings(admin: AdminClient, view: View, kinds: list[str]) -> None:
    if not kinds:
        return
    resources = {kind: ConfigResource(ResourceType.TOPIC, view.topic(kind)) for kind in kinds}
    futures: dict[Any, Any] = admin.describe_configs(list(resources.values()))
    for kind, resource in resources.items():
        current = _described(futures[resource], view.topic(kind))
        for name in _REQUIRED[_base(kind)]:
            wanted, found = SETTINGS[_base(kind)][name], current[name]
            if not _serves(name, found, wanted):
                raise TopicUnfit(
                    f"topic {view.topic(kind)} has {name}={found}, but a {kind} topic needs {wanted}: change it with "
                    f"kafka-configs.sh --alter --topic {view.topic(kind)} --add-config {name}={wanted}"
                )


def _described(future: Any, topic: str) -> dict[str, str]:
    try:
        return {name: entry.value for name, entry in future.result().items()}
    except KafkaException as error:
        raise TopicUnfit(f"the settings of topic {topic} cannot be read: {error.args[0].str()}") from None


def _serves(name: str, found: str, wanted: str) -> bool:
    return int(found) >= int(wanted) if name == "max.message.bytes" else found == wanted
