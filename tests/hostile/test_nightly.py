"""What a night says at its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.nightly import PARTS, ROOT, Night, Part

if TYPE_CHECKING:
    from pathlib import Path

REPORT = """<testsuites><testsuite>
<testcase name="one"/>
<testcase name="two"><skipped message="there is no Java"/></testcase>
</testsuite></testsuites>"""

PROFILES = """
import json
from hypothesis import settings
from tests import conftest
asked = {"default": settings.default} | {name: settings.get_profile(name) for name in ("steady", "exploring")}
print(json.dumps({name: [found.derandomize, found.deadline] for name, found in asked.items()}))
"""
OF_SERVERS = ("CI", "TF_BUILD", "GITHUB_ACTIONS", "GITLAB_CI", "CIRCLECI", "BUILDKITE", "CODEBUILD_BUILD_ID")
"""Variables by which a server of builds says that it is one."""


def _ran(folder: Path, code: str, target: str = "") -> Night:
    night = Night()
    night.run(Part("a part", (sys.executable, "-c", code), target), folder)
    return night


def test_it_says_what_was_proved_and_what_failed(tmp_path: Path) -> None:
    assert "a part" in _ran(tmp_path, "pass").told([])
    assert "proved in" in _ran(tmp_path, "pass").told([])
    failed = _ran(tmp_path, "raise SystemExit(3)")
    assert failed.failed
    assert "FAILED (status 3)" in failed.told([])


def test_it_says_what_was_skipped_and_why(tmp_path: Path) -> None:
    (tmp_path / "0.xml").write_text(REPORT)
    told = _ran(tmp_path, "pass").told([json.dumps({"title": "A table", "rows": [["requests", "5"]]})])
    assert "1 tests, 1 skipped" in told
    assert "1x there is no Java" in told
    assert "A table" in told
    assert "no-such-target" in _ran(tmp_path, "pass", "no-such-target").told([])


def test_a_night_draws_new_examples(tmp_path: Path) -> None:
    (told,) = [part.told_to(tmp_path)[-1] for part in PARTS if part.target == "test"]
    assert "--hypothesis-profile=exploring" in told


@pytest.mark.parametrize("machine", [{}, {"CI": "true"}], ids=["a developer's", "a server's"])
def test_a_day_draws_the_same_examples_and_a_night_new_ones_on_every_machine(machine: dict[str, str]) -> None:
    environ = {name: value for name, value in os.environ.items() if name not in OF_SERVERS} | machine
    told = subprocess.run(
        [sys.executable, "-c", PROFILES], cwd=ROOT, env=environ, capture_output=True, text=True, check=True, timeout=600
    ).stdout
    assert json.loads(told) == {"default": [True, None], "steady": [True, None], "exploring": [False, None]}


def test_a_night_has_every_long_form() -> None:
    assert [part.name.partition(":")[0] for part in PARTS] == ["tests", "fuzz", "soak", "deployed"]
