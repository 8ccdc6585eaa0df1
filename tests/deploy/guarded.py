"""A broker that asks everybody for a password and lets them do only what docs/operations.md says that they need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from deploy.local import broker_config
from deploy.local.broker import Broker
from deploy.local.ports import free_port
from tests.deploy.processes import ROOT

_OPERATIONS: Final = {
    "Read": AclOperation.READ,
    "Write": AclOperation.WRITE,
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    "Create": AclOperation.CREATE,
}
_KINDS: Final = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)

Right = tuple[str, ResourceType, str, bool]
"""What may be done, to what kind of thing, of which name, and whether all names that begin so are meant."""


def documented() -> dict[str, list[Right]]:
    """User -> rights, as the table in docs/operations.md lists them. `V` in a name is the view."""
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    table = text.partition("| user | topics | groups | transactional ids |\n")[2].partition("\n\n")[0]
    found: dict[str, list[Right]] = {}
    for row in table.splitlines()[1:]:
        users, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        rights = [right for kind, cell in zip(_KINDS, cells, strict=True) for right in _rights(kind, cell)]
        found |= dict.fromkeys(users.split(", "), rights)
    return found


def _rights(kind: ResourceType, cell: str) -> Iterator[Right]:
    for clause in filter(None, cell.split("; ")):
        wanted, names = clause.partition("`")[0], re.findall(r"`([^`]+)`", clause)
        for operation in wanted.replace(",", " ").removesuffix("prefix ").split():
            assert operation in _OPERATIONS, clause
            for name in names:
                yield operation, kind, name, wanted.endswith("prefix ")


def password(user: str) -> str:
    return f"secret-of-{user}"


def credentials(user: str) -> dict[str, str]:
    """The settings of librdkafka that show who one is."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": user,
        "sasl.password": password(user),
    }


@contextmanager
def guarded_broker(home: Path, users: list[str]) -> Iterator[tuple[Broker, str]]:
    """The broker, and the address at which it knows its clients. At its other address everything is allowed."""
    address = f"127.0.0.1:{free_port()}"
    plain = "PLAINTEXT://127.0.0.1:{port}"
    known = " ".join(f'user_{user}="{password(user)}"' for user in users)
    template = broker_config._PROPERTIES.replace(plain, f"{plain},GUARDED://{address}") + (
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,GUARDED:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT\n"
        "listener.name.guarded.sasl.enabled.mechanisms=PLAIN\n"
        "listener.name.guarded.plain.sasl.jaas.config="
        f"org.apache.kafka.common.security.plain.PlainLoginModule required {known};\n"
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
        "super.users=User:ANONYMOUS\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(broker_config, "_PROPERTIES", template)
        broker = Broker(home, dies_with_parent=True)
        broker.start()
        try:
            yield broker, address
        finally:
            broker.stop()


def grant(broker: Broker, user: str, rights: list[Right], view: str) -> None:
    """Gives the user these rights, for this view."""
    admin = AdminClient({"bootstrap.servers": broker.address})
    bindings = [
        AclBinding(
            kind,
            re.sub(r"\bV\b", view, name),
            ResourcePatternType.PREFIXED if prefix else ResourcePatternType.LITERAL,
            f"User:{user}",
            "*",
            _OPERATIONS[operation],
            AclPermissionType.ALLOW,
        )
        for operation, kind, name, prefix in rights
    ]
    for future in admin.create_acls(bindings).values():
        future.result(30)
