"""One stack in ministack for all tests of this folder, made only by `make test-deployed`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests

from infra.tools.artifact import RUNTIME
from tests.deployed.deploying import build, deploy
from tests.deployed.ministack import ROOT, ministack, version
from tests.node import search_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.deployed.ministack import Ministack

if not os.environ.get("DEPLOYED"):
    collect_ignore_glob = ["test_*.py"]

TENANT = "acme"


class Deployed:
    """The stack, as its clients have it; what a local run's `Running` offers them, this does too."""

    patience = 60.0
    """For how many seconds what goes on behind a queue is waited for."""

    def __init__(self, aws: Ministack, outputs: dict[str, str]) -> None:
        self.aws = aws
        self.outputs = outputs
        (api,) = aws.client("apigatewayv2").get_apis()["Items"]
        self.base_url = aws.address_of(api["ApiId"])
        self.session = requests.Session()
        self.session.verify = str(aws.certificate)
        operator = self._first_key()
        self.credentials = {"tenant_id": TENANT, "operator_key": operator}
        self.credentials["api_key"] = self.key(operator, role="tenant_admin")
        self.session.headers["Authorization"] = f"Bearer {self.credentials['api_key']}"

    def key(self, by: str, **wish: Any) -> str:
        """Make a key of the tenant and return its secret."""
        body = {"name": "deployed", "tenant_id": TENANT, "project_id": None, **wish}
        headers = {"Authorization": f"Bearer {by}"}
        made = self.session.post(f"{self.base_url}/v1/api_keys", json=body, headers=headers, timeout=60)
        assert made.status_code == 200, made.text
        return str(made.json()["key"])

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        """Call project memory with the tenant's key."""
        return self.session.request(method, f"{self.base_url}/sandbox/memory/v1{path}", timeout=60, **options)

    def _first_key(self) -> str:
        """Make the operator's key as a deployer does."""
        named = {"AWS_ENDPOINT_URL": self.aws.endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        command = [sys.executable, "-m", "functions.platform.first_key", "--table", self.outputs["TableName"]]
        environment = {**os.environ, **named, **self.aws.trust, "AWS_DEFAULT_REGION": "eu-central-1"}
        made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `sam build` makes; DEPLOYED may name a folder that has it already."""
    if version() != RUNTIME:
        pytest.skip(f"there is no Python {RUNTIME}, on which ministack would run the functions")
    named = Path(os.environ["DEPLOYED"])
    return named if named.is_dir() else build(tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="session")
def server(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    folder = tmp_path_factory.mktemp("ministack")
    with search_node() as node, ministack(folder) as aws, pytest.MonkeyPatch.context() as patched:
        for name, value in aws.trust.items():
            patched.setenv(name, value)  # SDKs and quick starts are programs of their own
        search = {"SearchBackend": "existing", "SearchEndpoint": node, "SearchDomain": "search"}
        yield Deployed(aws, deploy(aws, built, {"Stage": "dev", "MemoryLanguage": "en", **search}))
