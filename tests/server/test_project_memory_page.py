"""The examples of `docs/project_memory.md` are run as they stand there, and its limits are those of the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from shared.projects import models
from tests.local.running import ROOT, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.local.running import Running

PAGE = (ROOT / "docs/project_memory.md").read_text("utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("page") / "home") as started:
        yield started


def run(server: Running, folder: Path, heading: str, *command: str) -> str:
    """Run the one example below a heading, and return what it prints."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"^```\w+\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    named = {"LODESTORE_URL": server.base_url, "LODESTORE_KEY": server.credentials["api_key"]}
    done = subprocess.run(
        [*command, block], cwd=folder, env={**os.environ, **named}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_append_keeps_what_was_there(server: Running, tmp_path: Path) -> None:
    assert run(server, tmp_path, "Conditional writes", sys.executable, "-c") == "# Fixed\nThe cookie was not set.\n"


def test_its_upload_brings_the_bytes_and_gets_them_back(server: Running, tmp_path: Path) -> None:
    told = run(server, tmp_path, "Large artifacts", "bash", "-eo", "pipefail", "-c")
    assert '"size":6000000' in told


def test_its_limits_are_those_of_the_code() -> None:
    kib, mib = 1 << 10, 1 << 20
    for told in (
        f"| `summary_md` | {models.SUMMARY_BYTES // mib} MiB of UTF-8 |",
        f"| `meta` | {models.META_BYTES // kib} KiB as compact JSON |",
        f"| an artifact | {models.ARTIFACT_BYTES // mib} MiB; {models.ARTIFACTS_A_TURN:,} of a turn |",
    ):
        assert told in PAGE
