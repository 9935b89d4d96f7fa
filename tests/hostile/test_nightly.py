"""What a night says at its end."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from hypothesis import settings

from tests.nightly import PARTS, Night, Part

if TYPE_CHECKING:
    from pathlib import Path

REPORT = """<testsuites><testsuite>
<testcase name="one"/>
<testcase name="two"><skipped message="there is no Java"/></testcase>
</testsuite></testsuites>"""


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


def test_a_night_draws_examples_anew_and_a_day_the_same_ones_for_as_long_as_they_take(tmp_path: Path) -> None:
    (told,) = [part.told_to(tmp_path)[-1] for part in PARTS if part.target == "test"]
    assert "--hypothesis-profile=exploring" in told
    for name, is_same in (("steady", True), ("exploring", False)):
        profile = settings.get_profile(name)
        assert (profile.derandomize, profile.deadline) == (is_same, None)
    assert settings.default is not None
    assert settings.default.deadline is None


def test_a_night_has_every_long_form() -> None:
    assert [part.name.partition(":")[0] for part in PARTS] == ["tests", "fuzz", "soak", "deployed"]
