"""The platform's function over an emulated stack, with keys of every kind."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from functions.platform import api
from shared.kernel.scope import Role
from shared.tenancy.models import KeyWish
from shared.wiring.environment import Environment
from shared.wiring.tenancy import Tenancy, tenancy
from tests.clients.events import Answer, Client
from tests.emulator.cloud import emulated_cloud
from tests.tenancy.desk import Deferred, MovedClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.emulator.cloud import Cloud

KEYS = "/v1/api_keys"


@dataclass
class World:
    """One stack with its platform surface."""

    cloud: Cloud
    clock: MovedClock = field(default_factory=MovedClock)
    deferred: Deferred = field(default_factory=Deferred)

    @cached_property
    def environ(self) -> dict[str, str]:
        return self.cloud.environment("PlatformFunction")

    @property
    def tenancy(self) -> Tenancy:
        return tenancy(Environment.of(self.environ), self.cloud.aws, self.clock)

    def anyone(self, **changed: str) -> Client:
        """Return a client without a key, of an instance of its own."""
        return Client(api.build({**self.environ, **changed}, self.cloud.aws, self.clock))

    def client(self, role: Role = Role.TENANT_ADMIN, **wish: Any) -> Client:
        """Return a client with a new key: tenant `acme`, or an operator's."""
        wished = {"name": "test", "tenant": None if role is Role.OPERATOR else "acme", **wish}
        return Client(self.anyone().handler, self.tenancy.keys.issue(KeyWish(role=role, **wished)).secret)


@contextmanager
def platform_world() -> Iterator[World]:
    with emulated_cloud() as cloud:
        world = World(cloud)
        with patch("shared.tenancy.background.later", world.deferred):
            yield world


def made(client: Client, **body: Any) -> Answer:
    """Ask for a new key."""
    return client.post(KEYS, json_body={"name": "made", "role": "member", **body})


def told(answer: Answer) -> str:
    """Return the message of an error, which has the shape of this surface."""
    assert set(answer.json) == {"type", "error", "request_id"}
    assert answer.json["type"] == "error"
    assert answer.json["request_id"] == answer.headers["request-id"]
    return str(answer.json["error"]["message"])
