"""The `anthropic` package, newest and an older one, works unchanged but for its base URL and key."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.stores.sdk.installed import python_with

if TYPE_CHECKING:
    from tests.local.running import Running

SCENARIOS = Path(__file__).with_name("scenarios.py")
VERSIONS = ["2.14.0", "0.97.0"]  # the newest; and one that sends the first beta header and X-Api-Key


def _names() -> list[str]:
    tree = ast.parse(SCENARIOS.read_text("utf-8"))
    (listed,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "SCENARIOS"
    ]
    assert isinstance(listed, ast.Tuple)
    names = [element.id for element in listed.elts if isinstance(element, ast.Name)]
    return [f"{kind} {name}" for kind in ("sync", "async") for name in names]


@pytest.fixture(scope="module")
def outcomes(server: Running, keys: dict[str, str]) -> dict[str, dict[str, str | None]]:
    return {version: _run(version, server.base_url, keys) for version in VERSIONS}


def _run(version: str, base_url: str, keys: dict[str, str]) -> dict[str, str | None]:
    command = [str(python_with(version)), "-W", "ignore", str(SCENARIOS), base_url, json.dumps(keys)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    return {line["name"]: line["wrong"] for line in lines}


@pytest.mark.parametrize("name", _names())
@pytest.mark.parametrize("version", VERSIONS)
def test_the_package_works_unchanged(outcomes: dict[str, dict[str, str | None]], version: str, name: str) -> None:
    assert outcomes[version][name] is None, outcomes[version][name]
