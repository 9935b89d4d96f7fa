"""The running server held to its own API document by schemathesis."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.local.running import running

if TYPE_CHECKING:
    import pytest

EXAMPLES = "12"
SEED = "20261130"
# A document can't say that a time must lie ahead or that an ETag must match: what it allows may still be refused.
NOT_ASKED = "positive_data_acceptance"


def test_no_answer_is_a_5xx_or_one_that_the_document_does_not_describe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path / "home") as server:
        done = subprocess.run(
            [
                Path(sys.executable).with_name("st"),
                *("run", f"{server.base_url}/openapi.json"),
                *("--header", f"Authorization: Bearer {server.credentials['api_key']}"),
                *("--checks", "all", "--exclude-checks", NOT_ASKED),
                *("--request-timeout", "90", "--suppress-health-check", "too_slow"),  # a machine may be busy
                *("--max-examples", EXAMPLES, "--seed", SEED, "--no-color", "--warnings", "off"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    with capsys.disabled():
        print(f"\n{done.stdout.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "5xx" not in done.stdout
