"""Files over real HTTP: the local run takes uploads itself, as S3 does, and the guide's examples run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests.local.running import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.local.running import Running

GUIDE = (Path(__file__).parents[3] / "docs/memories.md").read_text("utf-8")
CONTENT = bytes(range(256)) * 23_000
"""Above what goes through a deployed gateway, 4.5 MB."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("files") / "home") as started:
        yield started


def ask(server: Running, method: str, path: str = "", **options: Any) -> requests.Response:
    return server.session.request(method, f"{server.base_url}/v1/files{path}", timeout=60, **options)


def announced(server: Running, **fields: Any) -> dict[str, Any]:
    body = {"user_id": "ann", "filename": "树.txt", "size": len(CONTENT), **fields}
    answer = ask(server, "POST", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()["data"]
    return told


def put(told: dict[str, Any], content: bytes = CONTENT, **headers: str) -> int:
    sent = {**told["upload"]["headers"], **headers}
    return requests.put(told["upload"]["url"], data=content, headers=sent, timeout=60).status_code


def test_a_large_file_comes_and_goes_as_it_is(server: Running) -> None:
    told = announced(server)
    assert ask(server, "POST", f"/{told['id']}/complete").status_code == 409
    assert put(told) == 200
    assert put(told) == 412
    completed = ask(server, "POST", f"/{told['id']}/complete")
    assert completed.status_code == 200, completed.text
    assert completed.json()["data"]["status"] == "ready"
    assert completed.headers["request-id"] == completed.json()["meta"]["request_id"]
    got = ask(server, "GET", f"/{told['id']}/content")
    assert got.content == CONTENT
    assert got.headers["content-type"] == "text/plain"
    assert got.headers["content-disposition"] == "attachment; filename=\"_.txt\"; filename*=UTF-8''%E6%A0%91.txt"
    part = ask(server, "GET", f"/{told['id']}/content", headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, CONTENT[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(CONTENT)}"
    head = ask(server, "HEAD", f"/{told['id']}/content")
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(CONTENT)))
    assert told["id"] in {file["id"] for file in ask(server, "GET", params={"user_id": "ann"}).json()["data"]["data"]}


def test_the_url_takes_nothing_but_what_was_announced(server: Running) -> None:
    told = announced(server, size=5)
    assert put(told, b"longer", **{"Content-Length": "6"}) == 403
    assert requests.put(told["upload"]["url"], data=b"12345", timeout=60).status_code == 403
    other = told["upload"]["url"].replace("/up/", "/keep/", 1)
    assert requests.put(other, data=b"12345", headers=told["upload"]["headers"], timeout=60).status_code == 403
    assert requests.get(told["upload"]["url"], timeout=60).status_code == 403
    assert requests.delete(told["upload"]["url"], timeout=60).status_code in {403, 405}
    assert ask(server, "POST", f"/{told['id']}/complete").status_code == 409
    assert put(told, b"12345") == 200
    assert ask(server, "POST", f"/{told['id']}/complete").status_code == 200
    whole = ask(server, "GET", f"/{told['id']}/content")
    assert (whole.status_code, whole.content) == (200, b"12345")
    assert whole.headers["x-content-type-options"] == "nosniff"


def test_a_deleted_file_is_gone_and_its_receipt_is_told(server: Running) -> None:
    told = announced(server, size=5)
    assert put(told, b"12345") == 200
    assert ask(server, "POST", f"/{told['id']}/complete").status_code == 200
    deleted = ask(server, "DELETE", f"/{told['id']}")
    assert deleted.status_code == 202
    assert ask(server, "GET", f"/{told['id']}").status_code == 404
    receipt = f"{server.base_url}/v1/memories/erasures/{deleted.json()['data']['task_id']}"
    while (shown := server.session.get(receipt, timeout=60).json()["data"])["status"] == "accepted":
        pass
    assert shown["status"] == "success"
    assert shown["removed"] == {"objects": 1, "records": 1, "index": 0}


def test_the_guide_s_examples_upload_a_file(server: Running, tmp_path: Path) -> None:
    assert run(server, tmp_path, sys.executable, "-c", example("Upload with Python")) == "ready\nCedars grow slowly.\n"
    if shutil.which("curl") and shutil.which("python3"):
        shown = run(server, tmp_path, "bash", "-e", "-c", example("Upload with curl"))
        assert '"status":"ready"' in shown
        assert shown.endswith("Cedars grow slowly.")


def example(heading: str) -> str:
    """Return the one block of code below a heading of the guide."""
    section = GUIDE.partition(f"\n### {heading}\n")[2].partition("\n##")[0]
    (block,) = re.findall(r"^```\w+\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return str(block)


def run(server: Running, folder: Path, *command: str) -> str:
    told = {"MEMORAX_BASE_URL": server.base_url, "MEMORAX_API_KEY": server.credentials["api_key"]}
    ran = subprocess.run(
        command, env={**os.environ, **told}, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
