"""Whatever a header holds: a clear 4xx or an answer, and never another tenant's."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clients.events import Client
from tests.platform.world import KEYS, World

HEADERS = [
    "Authorization",
    "X-Api-Key",
    "X-Sandbox-Tenant-Id",
    "X-Sandbox-Project-Id",
    "anthropic-workspace-id",
    "x-correlation-id",
    "Content-Type",
    "Content-Length",
]
VALUES = [
    "",
    " ",
    "acme",
    "acme,acme",
    "acme-corp",
    "*",
    "%",
    "#",
    "null",
    "../..",
    "\u0000",
    "é",
    "💥",
    "\t",
    "a" * 9000,
]


@pytest.mark.parametrize("header", HEADERS)
def test_an_odd_header_never_breaks_an_answer(world: World, header: str) -> None:
    admin = world.client()
    for value in VALUES:
        for client in (admin, Client(admin.handler)):
            answer = client.get(KEYS, headers={header: value})
            assert answer.status in {200, 400, 401, 403}
            if answer.status != 200:
                assert answer.json["request_id"] == answer.headers["request-id"]


@pytest.fixture
def neighbour(world: World) -> Client:
    """Return a client of `acme` beside a tenant `acme-corp` that has a key as well."""
    world.client(tenant="acme-corp")
    return world.client()


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(headers=st.dictionaries(st.sampled_from(HEADERS), st.one_of(st.sampled_from(VALUES), st.text(max_size=80))))
def test_no_headers_show_another_tenants_keys(neighbour: Client, headers: dict[str, str]) -> None:
    answer = neighbour.get(KEYS, headers=headers)
    if answer.status == 200:
        assert {key["tenant_id"] for key in answer.json["data"]} == {"acme"}
    else:
        assert answer.status in {400, 401, 403}
