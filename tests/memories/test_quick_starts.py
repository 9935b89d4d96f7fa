"""The quick starts of the API's own document, run as they stand there: nothing is changed but address and key."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.local.running import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.local.running import Running

STEPS = Path(__file__).parent / "quick_start"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
KINDS = {"curl": "sh", "python": "py.txt", "node": "mjs"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("quick") / "home") as started:
        yield started


class Reader:
    """Somebody who follows the document in one language."""

    def __init__(self, server: Running, language: str, folder: Path) -> None:
        self.server = server
        self.language = language
        self.folder = folder

    def follow(self, step: str, task: str = "TASK_ID") -> str:
        """Run a step, and return what it printed."""
        text = (STEPS / f"{step}.{KINDS[self.language]}").read_text("utf-8").replace("TASK_ID", task, 1)
        script = self.folder / f"{step}.mjs"
        script.write_text(text, "utf-8")
        command = {
            "curl": ["bash", "-e", "-c", text],
            "python": [sys.executable, "-c", text],
            "node": ["node", str(script)],
        }[self.language]
        told = {"MEMORAX_BASE_URL": self.server.base_url, "MEMORAX_API_KEY": self.server.credentials["api_key"]}
        ran = subprocess.run(
            command, env={**os.environ, **told}, capture_output=True, text=True, check=False, timeout=120
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


@pytest.mark.parametrize("language", KINDS)
def test_a_reader_of_the_quick_start_adds_asks_for_the_status_and_finds(
    server: Running, tmp_path: Path, language: str
) -> None:
    program = {"curl": "curl", "node": "node"}.get(language, sys.executable)
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed here")
    reader = Reader(server, language, tmp_path)
    accepted = reader.follow("add")
    assert "accepted" in accepted
    task = next(found for found in UUID.findall(accepted) if f"task_id{found}" in re.sub(r"['\": ]", "", accepted))
    told = reader.follow("status", task)
    while "processing" in told:
        told = reader.follow("status", task)
    assert "success" in told
    assert "done" in told
    found = reader.follow("search")
    assert "completed" in found
    if language != "node":  # which prints what lies so deep as [Object]
        assert "at most 3 delivery attempts" in found


GUIDE = (Path(__file__).parents[2] / "docs/memories.md").read_text("utf-8")


def example(heading: str) -> str:
    """Return the one block of code below a heading of our own guide."""
    section = GUIDE.partition(f"\n### {heading}\n")[2].partition("\n##")[0]
    (block,) = re.findall(r"^```\w+\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return str(block)


def run(server: Running, *command: str) -> str:
    told = {"MEMORAX_BASE_URL": server.base_url, "MEMORAX_API_KEY": server.credentials["api_key"]}
    ran = subprocess.run(command, env={**os.environ, **told}, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_our_own_examples_print_what_they_say(server: Running, tmp_path: Path) -> None:
    assert run(server, sys.executable, "-c", example("Python")) == "['I moved to Madrid.']\n"
    if shutil.which("node"):
        script = tmp_path / "example.mjs"
        script.write_text(example("JavaScript"), "utf-8")
        assert run(server, "node", str(script)) == "[ 'I moved to Madrid.' ]\n"
    if shutil.which("curl"):
        assert '"accepted"' in run(server, "bash", "-e", "-c", example("curl"))
