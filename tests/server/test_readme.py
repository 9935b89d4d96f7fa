"""The README's first session, run as it stands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.local.running import ROOT, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which `make run` is running."""
    made = tmp_path_factory.mktemp("session")
    with running(made / ".lodestore"):
        yield made


def _block(language: str, containing: str) -> str:
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return next(block for block in blocks if containing in block)


def test_its_curl_session_shows_what_the_next_agent_reads(folder: Path) -> None:
    script = f"set -eo pipefail\n{_block('sh', 'URL=')}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    assert '"content_type":"text/x-diff"' in done.stdout
    assert "## fix-login" in done.stdout
    assert "### Fixed" in done.stdout


def test_what_it_says_of_memories_finds_what_was_learnt(folder: Path) -> None:
    beginning = _block("sh", "URL=").partition("\n\n")[0]
    script = f"set -eo pipefail\n{beginning}\n{_block('sh', '/v1/memories/add')}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    added, found = done.stdout.replace("}{", "}\n{").splitlines()
    assert "tea" in json.loads(found)["data"]["data"][0]["memory"]
    assert json.loads(added)["data"]["status"] == "completed"


def test_its_python_session_loses_nothing(folder: Path) -> None:
    code = _block("python", "requests.Session")
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    stamp, refused = done.stdout.splitlines()[0].split()
    assert stamp.endswith("Z")
    assert refused == "412"
    assert "fix-login" in done.stdout.splitlines()[1]
