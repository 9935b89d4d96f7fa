from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.faults import Fault, faults
from tests.local.running import Running, running
from tests.stores.sdk.http_server import served
from tests.stores.world import store_world

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("home")) as started:
        yield started


@pytest.fixture(scope="module")
def keys(server: Running) -> Iterator[dict[str, str]]:
    """Return the keys that scenarios need, and a server whose S3 is down."""

    def issue(**wish: Any) -> str:
        body = {"name": "sdk", "role": "member", "tenant_id": server.credentials["tenant_id"], **wish}
        made = server.session.post(f"{server.base_url}/v1/api_keys", json=body, timeout=60)
        assert made.status_code == 200, made.text
        return str(made.json()["key"])

    with store_world() as world:
        client = world.client()
        store, key = client.store(), client.key
        client.key = None
        assert key is not None
        down = faults(lambda call: Fault.SERVER_ERROR if call.service == "s3" else None)
        with served(client) as url, down:
            yield {
                "admin": server.credentials["api_key"],
                "reader": issue(permissions=["read"]),
                "limited": issue(rate_limit_per_minute=1),
                "faulty": key,
                "faulty_url": url,
                "faulty_store": store,
            }
