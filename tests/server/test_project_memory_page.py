"""The quick start of `docs/project_memory.md`, run as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from shared.projects.models import ARTIFACT_BYTES, ARTIFACTS_A_TURN, META_BYTES, SUMMARY_BYTES
from tests.local.running import ROOT, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.local.running import Running

GUIDE = (ROOT / "docs/project_memory.md").read_text("utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("page") / "home") as started:
        yield started


def followed(server: Running, heading: str, *command: str) -> str:
    """Run the block of code below a heading, and return what it printed."""
    section = GUIDE.partition(f"\n### {heading}\n")[2].partition("\n##")[0]
    (block,) = re.findall(r"^```\w+\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    named = {"LODESTORE_URL": server.base_url, "LODESTORE_KEY": server.credentials["api_key"]}
    ran = subprocess.run(
        [*command, block], env={**os.environ, **named}, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_its_python_prints_what_it_says(server: Running) -> None:
    block = GUIDE.partition("\n### Python\n")[2].partition("\n## ")[0]
    promised = re.findall(r"print\(.*\)  # (.*)", block)
    printed = followed(server, "Python", sys.executable, "-c").splitlines()
    assert len(printed) == len(promised) == 4
    assert all(comment.startswith(line) for line, comment in zip(printed, promised, strict=True)), printed


def test_its_curl_session_writes_reads_and_forgets(server: Running) -> None:
    printed = followed(server, "curl", "bash", "-e", "-c")
    assert '"meta":{"agent_id":"coder","started_at":"2026-11-30T09:00:00Z","exit_code":0}' in printed
    assert "patch# Project memory: default" in printed
    assert "### Fixed" in printed
    assert "detail" not in printed
    assert server.call("GET", "/tasks/fix-login").status_code == 404


def test_its_limits_are_those_that_hold() -> None:
    for size, told in ((SUMMARY_BYTES, "1 MiB of UTF-8"), (META_BYTES, "256 KiB"), (ARTIFACT_BYTES, "50 MiB")):
        number, unit = told.split()[:2]
        assert size == int(number) << {"KiB": 10, "MiB": 20}[unit]
        assert told in GUIDE
    assert f"{ARTIFACTS_A_TURN:,} a turn" in GUIDE
