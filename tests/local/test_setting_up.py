"""`make` on a machine where something is missing or set to what is not there says what to do, or does without it."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.local.running import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    around = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environ = {**around, "AWS_PROFILE": "of-another-job"}
    return subprocess.run(["make", *arguments], cwd=ROOT, env=environ, capture_output=True, text=True, check=False)


def test_a_python_that_can_not_be_used_is_named(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHON": "/nowhere/python"}
    done = subprocess.run(
        [ROOT / "infra/tools/bootstrap"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "needs Python 3.11 or newer (found: no /nowhere/python)" in done.stderr
    assert "make setup PYTHON=" in done.stderr


def test_a_build_asks_for_no_profile() -> None:
    done = make("-o", ".tools/sam/.ready", "build", "SAM=env; true")
    assert "PATH=" in done.stdout
    assert "of-another-job" not in done.stdout


def test_a_deployment_that_fails_says_what_it_needs() -> None:
    done = make("-o", "build", "deploy", "SAM=false")
    assert done.returncode == 2
    assert "AWS_PROFILE, AWS_DEFAULT_REGION" in done.stderr
