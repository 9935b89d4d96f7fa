"""The quick start of `docs/memory_stores.md` is run as it stands there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.stores.sdk.installed import ROOT, node_with_sdk, python_with
from tests.stores.sdk.test_python import VERSIONS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.local.running import Running

GUIDE = (ROOT / "docs/memory_stores.md").read_text("utf-8")


def example(heading: str) -> str:
    """Return the one block of code below a heading."""
    section = GUIDE.partition(f"\n### {heading}\n")[2].partition("\n##")[0]
    (block,) = re.findall(r"^```\w+\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return str(block)


def run(server: Running, *command: str) -> list[str]:
    named = {"LODESTORE_URL": server.base_url, "LODESTORE_KEY": server.credentials["api_key"]}
    ran = subprocess.run(command, env={**os.environ, **named}, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_the_python_example_prints_what_it_says(server: Running) -> None:
    lines = run(server, str(python_with(VERSIONS[0])), "-c", example("Python"))
    assert lines[:3] == ["memory_precondition_failed_error", "memory_prefix /login/", "It is set now."]
    assert [line.split()[0] for line in lines[3:]] == ["modified", "created"]


def test_the_typescript_example_prints_what_it_says(server: Running, tmp_path: Path) -> None:
    node, place = node_with_sdk()
    script = tmp_path / "example.mjs"
    script.write_text(example("TypeScript"))
    (tmp_path / "node_modules").symlink_to(place / "node_modules")
    assert run(server, node, str(script)) == ["memory_prefix /login/", "It is set now."]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed here")
def test_the_curl_example_works(server: Running) -> None:
    said = "".join(run(server, "bash", "-e", "-c", example("curl")))
    assert '"path":"/login/"' in said
    assert '"content":"It is set now."' in said
    assert '"operation":"modified"' in said
    assert '"type":"error"' not in said
