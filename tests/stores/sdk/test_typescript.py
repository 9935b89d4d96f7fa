"""The `@anthropic-ai/sdk` package works unchanged but for its base URL and key."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.stores.sdk.installed import node_with_sdk

if TYPE_CHECKING:
    from tests.local.running import Running

SCENARIOS = Path(__file__).with_name("scenarios.mjs")
NAMES = re.findall(
    r"^async function (\w+)\(\{.*\}\)|^async function (whatIsDown)\(\)", SCENARIOS.read_text("utf-8"), re.MULTILINE
)


@pytest.fixture(scope="module")
def outcomes(server: Running, keys: dict[str, str]) -> dict[str, str | None]:
    node, place = node_with_sdk()
    script = place / SCENARIOS.name
    shutil.copyfile(SCENARIOS, script)  # Node looks for packages from where a script lies
    command = [node, str(script), server.base_url, json.dumps(keys)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    return {line["name"]: line["wrong"] for line in lines}


@pytest.mark.parametrize("name", [first or second for first, second in NAMES])
def test_the_package_works_unchanged(outcomes: dict[str, str | None], name: str) -> None:
    assert outcomes[name] is None, outcomes[name]


def test_every_scenario_is_looked_at(outcomes: dict[str, str | None]) -> None:
    assert set(outcomes) == {first or second for first, second in NAMES}
