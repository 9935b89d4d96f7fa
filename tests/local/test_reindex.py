"""The search index of a local run, made anew by `make reindex`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.local.running import ROOT, Running, running

if TYPE_CHECKING:
    from pathlib import Path


def reindex(home: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "infra.local.reindex"],
        cwd=ROOT,
        env={**os.environ, "LODESTORE_HOME": str(home), **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def add(server: Running, text: str) -> None:
    said = {"role": "user", "content": text, "timestamp": 1_796_000_000_000}
    body = {"user_id": "ann", "mode": "raw", "messages": [said], "wait": 20}
    answer = server.session.post(f"{server.base_url}/v1/memories/add", json=body, timeout=60)
    assert (answer.status_code, answer.json()["data"]["status"]) == (200, "completed"), answer.text


def found(server: Running, query: str) -> list[str]:
    body = {"user_id": "ann", "query": query, "output_mode": "raw"}
    answer = server.session.post(f"{server.base_url}/v1/memories/search", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    return [hit["memory"] for hit in answer.json()["data"]["data"]]


def test_a_lost_index_is_made_again_from_what_is_stored_once_the_server_is_stopped(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running(home) as server:
        add(server, "Ana drinks green tea")
        refused = reindex(home)
        assert (refused.returncode, "is running. Stop it" in refused.stderr) == (1, True)
    shutil.rmtree(home / "search")
    done = reindex(home)
    assert done.returncode == 0, done.stderr
    assert "done, 1 memories in 1 passages" in done.stderr
    with running(home) as server:
        assert found(server, "What does Ana drink?") == ["Ana drinks green tea"]


def test_settings_that_can_not_be_used_are_told(tmp_path: Path) -> None:
    wrong = reindex(tmp_path / "home", EMBEDDER="none-such")
    assert (wrong.returncode, "EMBEDDER is none of" in wrong.stderr) == (1, True)
    real = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "TABLE_NAME": "t", "BUCKET_NAME": "b"}
    assert "make reindex TABLE=" in reindex(tmp_path / "home", **real).stderr
