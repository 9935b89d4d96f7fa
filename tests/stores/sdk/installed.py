"""The public packages, each in a place of its own under `.tools`, installed when a test first wants it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / ".tools"
TYPESCRIPT = "1.14.0"

INSTALL_SECONDS = 300
"""For how long a registry is waited for; npm alone would go on asking one that it does not trust."""


def python_with(version: str) -> Path:
    """Return a Python that has `anthropic` of a version."""
    place = TOOLS / f"anthropic-{version}"
    with _alone(place):
        if not (place / ".ready").exists():
            uv = str(Path(sys.executable).with_name("uv"))
            _run(uv, "venv", "-q", "--clear", "--python", sys.executable, str(place))
            _run(uv, "pip", "install", "-q", "--python", str(place / "bin/python"), f"anthropic=={version}")
            (place / ".ready").touch()
    return place / "bin/python"


def node_with_sdk() -> tuple[str, Path]:
    """Return Node and a folder in which `@anthropic-ai/sdk` is found."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node.js is not installed here")
    place = TOOLS / f"anthropic-sdk-{TYPESCRIPT}"
    with _alone(place):
        if not (place / ".ready").exists():
            place.mkdir(parents=True, exist_ok=True)
            (place / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
            wanted = f"@anthropic-ai/sdk@{TYPESCRIPT}"
            _run(npm, "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(place), wanted)
            (place / ".ready").touch()
    return node, place


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Keep other processes of the run away from a place: its tests are in several files."""
    TOOLS.mkdir(exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(*command: str) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ, timeout=INSTALL_SECONDS)
    assert ran.returncode == 0, ran.stdout + ran.stderr
