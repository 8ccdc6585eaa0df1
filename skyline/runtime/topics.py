"""Topics of a view: created with the right settings, or checked, with an error that says what to change."""

from __future__ import annotations

import time
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from skyline.errors import InvalidInput, SkylineError
from skyline.runtime.config import KafkaSettings
from skyline.runtime.patience import patiently
from skyline.view import View

TIMEOUT: Final = 30.0
_PAUSE_SECONDS: Final = 0.02

# Timestamps are event time: kept for a week, a year's history would be gone as soon as it was sent. So nothing is
# dropped by age; what must be bounded, is bounded by size.
_KEPT: Final = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
_REJECTS_KEPT: Final = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": str(2**30)}

LARGEST_RECORD: Final = 16 * 2**20
"""What the maintainer may have to publish: a reject as large as it came, or a change with all that it carries."""

_LIMITS: Final = {
    "max.message.bytes": str(LARGEST_RECORD),
    # the timestamp of a record is event time, which may be ahead of the broker's clock
    "message.timestamp.after.max.ms": str(2**63 - 1),
}
_PUBLISHED: Final = {**_LIMITS, "message.timestamp.type": "CreateTime"}
SETTINGS: Final[dict[str, dict[str, str]]] = {
    "updates": {**_KEPT, "message.timestamp.type": "CreateTime"},
    "changes": {**_KEPT, **_PUBLISHED},
    "skyline": {"cleanup.policy": "compact", **_PUBLISHED},
    "rejected": {**_REJECTS_KEPT, **_PUBLISHED},
}
"""Settings that a topic of each kind is created with."""

_REQUIRED: Final = {
    "updates": ("cleanup.policy",),
    "changes": ("cleanup.policy", "retention.ms", "retention.bytes", *_PUBLISHED),
    "skyline": ("cleanup.policy", *_PUBLISHED),
    "rejected": tuple(_PUBLISHED),
}
"""Settings without which a topic that exists cannot serve: limits at least so large, all others exactly so."""


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
    troubles: list[KafkaError] = []
    # librdkafka would print twenty lines a second about a broker that is away: the error below says it once
    try:
        admin = AdminClient({**kafka.client(), "log_level": 0, "error_cb": troubles.append})
    except KafkaException as error:
        raise InvalidInput(f"no Kafka client can be made with these settings: {error.args[0].str()}") from None
    existing = _existing(admin, kafka, troubles)
    found = [kind for kind in kinds if view.topic(kind) in existing]
    _check_partitions(view, found, existing)
    created = _create(admin, view, [kind for kind in kinds if kind not in found], replication)
    # what somebody else has created since the broker was asked is as little known as what was there before
    others = [kind for kind in kinds if kind not in created]
    if len(found) < len(kinds):
        existing = _until_all_are_known(admin, kafka, [view.topic(kind) for kind in kinds], troubles)
    _check_partitions(view, others, existing)
    _check_settings(admin, view, others)


def topic_id(kafka: KafkaSettings, topic: str) -> str:
    """What tells a topic from another one that had its name before."""
    admin = AdminClient({**kafka.client(), "log_level": 0})

    def described() -> Any:
        return admin.describe_topics(TopicCollection([topic]), request_timeout=TIMEOUT)[topic].result()

    return str(patiently(described).topic_id)


def _base(kind: str) -> str:
    """What sort of topic it is: the changes of a watch (`changes.last-N`) are changes."""
    return kind.partition(".")[0]


def _existing(admin: AdminClient, kafka: KafkaSettings, troubles: list[KafkaError]) -> dict[str, int]:
    """Partitions by topic. `troubles` is what the client complains of meanwhile: a wrong password, for one."""
    try:
        listing = admin.list_topics(timeout=TIMEOUT)
    except KafkaException as error:
        admin.poll(0)
        told = dict.fromkeys(trouble.str() for trouble in troubles if trouble.code() != KafkaError._ALL_BROKERS_DOWN)
        why = "; ".join([error.args[0].str(), *told])
        raise KafkaUnreachable(f"no broker answers at {kafka.bootstrap}: {why}") from None
    return {name: len(topic.partitions) for name, topic in listing.topics.items()}


def _until_all_are_known(
    admin: AdminClient, kafka: KafkaSettings, topics: list[str], troubles: list[KafkaError]
) -> dict[str, int]:
    """Partitions by topic, once the broker has heard of all of these: a moment after the controller made them."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        existing = _existing(admin, kafka, troubles)
        unknown = [topic for topic in topics if not existing.get(topic)]
        if not unknown:
            return existing
        if time.monotonic() > deadline:
            raise TopicUnfit(f"topic {unknown[0]} was created, but {kafka.bootstrap} does not know it")
        time.sleep(_PAUSE_SECONDS)


def _check_partitions(view: View, kinds: list[str], existing: dict[str, int]) -> None:
    for kind in kinds:
        partitions = existing[view.topic(kind)]
        if partitions != 1:
            raise TopicUnfit(
                f"topic {view.topic(kind)} has {partitions} partitions: a view needs exactly 1, because its skyline is "
                f"global and one engine must see every update; create the topic again with 1 partition, "
                f"or make one view per partition's share of the data"
            )


def _create(admin: AdminClient, view: View, kinds: list[str], replication: int) -> list[str]:
    """Creates these topics; gives those that were not there after all."""
    if not kinds:
        return []
    wanted = [NewTopic(view.topic(kind), 1, replication, config=SETTINGS[_base(kind)]) for kind in kinds]
    futures = admin.create_topics(wanted, operation_timeout=TIMEOUT)
    return [kind for kind in kinds if _was_created(futures[view.topic(kind)], view.topic(kind))]


def _was_created(future: Any, topic: str) -> bool:
    try:
        future.result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:  # another process may have been faster
            raise TopicUnfit(f"topic {topic} could not be created: {error.args[0].str()}") from None
        return False
    return True


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
    return int(found) >= int(wanted) if name in _LIMITS else found == wanted
